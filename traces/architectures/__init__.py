"""The architectures of the shipped traces: every module states one model family as a list of layers."""
