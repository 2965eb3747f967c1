"""The decision service: durable decisions over HTTP. The log of events is the truth; all else is folded from it."""
