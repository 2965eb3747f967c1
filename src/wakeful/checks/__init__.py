"""The test suites that our policies pass, for users to run on policies of their own."""
