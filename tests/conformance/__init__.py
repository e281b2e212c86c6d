"""What the official conformance suite wants a server to offer; only a server under it installs it.

The names, texts and schemas here are the suite's, so none of them says anything of contextd.
"""
