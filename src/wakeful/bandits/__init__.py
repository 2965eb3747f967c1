"""What people embed: policies with names for arms, a random stream, files, and a ranking."""
