# Steps the examples share; sourced by their `run`, with `here` set to the example's folder.
# Needs curl and python3. TOOLGATE_BIN names the binary; without it, cargo builds and runs this clone's.

data=$(mktemp -d)
server=

if [[ -n ${TOOLGATE_BIN:-} ]]; then
  program=("$TOOLGATE_BIN")
else
  program=(cargo run --release --quiet --manifest-path "$here/../../Cargo.toml" --)
fi

toolgate() { "${program[@]}" "$@"; }

clean_up() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$data"
}
trap clean_up EXIT

say() { printf '\n# %s\n' "$*"; }

# holds WHAT ACTUAL EXPECTED
holds() {
  if [[ $2 != "$3" ]]; then
    printf 'NOT SO: %s\n  expected: %s\n  got:      %s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
  printf 'ok: %s\n' "$1"
}

# has WHAT TEXT PART
has() {
  if [[ $2 != *"$3"* ]]; then
    printf 'NOT SO: %s\n  expected within: %s\n  got: %s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
  printf 'ok: %s\n' "$1"
}

# Starts the example's gate on a free port; `mcp` is its address from then on.
serve() {
  # not through the function: the process to stop at the end is the gate itself
  "${program[@]}" serve --config "$here/toolgate.toml" --data "$data" --listen 127.0.0.1:0 \
    >"$data/out" 2>"$data/log" &
  server=$!
  for _ in $(seq 6000); do
    mcp=$(sed -n 's/^MCP address: //p' "$data/out" 2>/dev/null || true)
    [[ -n $mcp ]] && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$data/log" >&2
  exit 1
}

# mint FACT…: a token with these facts
mint() { toolgate token mint --config "$here/toolgate.toml" --data "$data" "$@"; }

# pick EXPRESSION: a value of the JSON on standard input, which is `a`
pick() { python3 -c "import json,sys; a=json.load(sys.stdin); print($1)"; }

# The names on a list, marked ones with a star.
names() {
  pick "' '.join(t['name'] + ('*' if t.get('_meta', {}).get('toolgate/callable') is False else '') for t in a['result']['tools'])"
}

# modern METHOD PARAMS [CURL OPTION…]: one request of protocol 2026-07-28; PARAMS are members of `params`, and the
# variable `meta` has further members of `params._meta`
modern() {
  local method=$1 params=$2 name
  shift 2
  local era='"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
  name=$(printf '{%s}' "$params" | pick "a.get('name', '')")
  curl --silent --show-error "$mcp" \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $method" ${name:+-H "Mcp-Name: $name"} "$@" \
    --data "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{\"_meta\":{$era${meta:+,$meta}}${params:+,$params}}}"
}

# legacy METHOD PARAMS [CURL OPTION…]: the same in protocol 2025-11-25, in a session of its own
legacy() {
  local method=$1 params=$2 session
  shift 2
  local common=(--silent --show-error "$mcp" -H 'Content-Type: application/json'
    -H 'Accept: application/json, text/event-stream' "$@")
  session=$(curl "${common[@]}" --dump-header - --output /dev/null --data '{"jsonrpc":"2.0","id":0,"method":"initialize",
    "params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}' |
    tr -d '\r' | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p')
  common+=(-H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 2025-11-25')
  curl "${common[@]}" --data '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  curl "${common[@]}" --data "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{$params}}"
}

bearer() { printf 'Authorization: Bearer %s' "$1"; }
