//! The configuration `toolgate init` writes.

pub const CONFIG: &str = r#"# Toolgate's configuration. Every key: docs/configuration.md; `toolgate check` finds what is wrong with it.

# lang = "en"                      # or "ja"
# disabled_tools = []              # switched off for everyone
# rules = ["rules"]                # your own .cedar files, or folders of them

[server]
listen = "127.0.0.1:8484"

# The built-in tools to load.
[packs.gate]
[packs.todo]

# A call that needs an approval waits so long for a person, also where its client can't ask it to: below the minute after
# which many clients give up. Answer at a terminal: toolgate approvals watch
[approvals]
wait = "45s"

# Facts about single tools override the pack's.
# [tools.delete_task]
# approval = "required"

# Tokens of your own identity provider.
# [[identity.issuers]]
# name = "corp"
# issuer = "https://login.example"
# audience = "https://tools.example/mcp"
# jwks_url = "https://login.example/jwks"
"#;
