"""The parts of `conformance.py`.

`shelf` holds what is offered and `definitions` how it is described; `tools` and `prompts` are what it does; `turn` is
how a tool speaks with its client; `modern` and `legacy` are the two eras; `over_stdio`, `over_http` and `front_door`
carry them.
"""
