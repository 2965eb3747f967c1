"""What holds for every test: its children can be interrupted, however the tests themselves were started."""

import signal

for interrupt in (signal.SIGINT, signal.SIGQUIT):  # a shell that starts a job in the background ignores both
    if signal.getsignal(interrupt) is signal.SIG_IGN:
        signal.signal(interrupt, signal.default_int_handler)
