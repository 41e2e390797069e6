//! The configuration that `toolgate init` writes, and that `add` and `import` begin a new file with.

pub const CONFIG: &str = r#"# Toolgate's configuration. Every key: docs/configuration.md; `toolgate check` finds what is wrong with it.

# lang = "en"                      # or "ja"
# disabled_tools = []              # switched off for everyone
# rules = ["rules"]                # your own .cedar files, or folders of them

[server]
listen = "127.0.0.1:8484"

# The built-in tools to load.
[packs.gate]                       # help
[packs.spine]                      # undo, flows and plans
# [packs.todo]                     # a task list for each user

# A call that needs an approval waits so long for a person, also where its client can't ask it to: below the minute after
# which many clients give up. Answer at a terminal: toolgate approvals watch
[approvals]
wait = "45s"

# MCP servers behind the gateway. `toolgate add NAME -- COMMAND` and `toolgate import FILE --write` add them to the
# end of this file; `toolgate upstream accept NAME` accepts their tools.
# [[upstreams]]
# name = "files"
# prefix = "files_"
# command = "npx"
# args = ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]
# writes = "ask"                   # calls wait for approval, unless the tool is known to read

# Attributes of tools, by name or by pattern; they override those of the tool's source.
# [tools."files_read_*"]
# source = "files"                 # only the tools of that server
# effect = "read"
# [tools.files_move_file]
# approval = "required"

# A rule, for a file rules/files.cedar (docs/rules.md):
# @id("files_stay") @code("files_stay") @message("Files stay where they are.")
# forbid (principal, action in Action::"call", resource == Tool::"files_move_file");

# Tokens of your own identity provider.
# [[identity.issuers]]
# name = "corp"
# issuer = "https://login.example"
# audience = "https://tools.example/mcp"
# jwks_url = "https://login.example/jwks"
"#;
