# Steps the examples share; sourced by their `run`, with `here` set to the example's folder.
# Needs curl and python3. TOOLGATE_BIN names the binary; without it, cargo builds and runs this clone's.
# Requests and answers are shown, unless --quiet is among the script's arguments.

data=$(mktemp -d)
server=
quiet=
exec 3>&1 # what is shown beside the answers that a step keeps for itself

arguments=()
for argument in "$@"; do
  if [[ $argument == --quiet ]]; then quiet=yes; else arguments+=("$argument"); fi
done
set -- ${arguments[@]+"${arguments[@]}"}

if [[ -n ${TOOLGATE_BIN:-} ]]; then
  program=("$TOOLGATE_BIN")
else
  program=(cargo run --release --quiet --manifest-path "$here/../../Cargo.toml" --)
fi

# note LINE: shows a line, cut to a readable length
note() { [[ -n $quiet ]] || printf '%.240s\n' "$*" >&3; }

# Runs the command, and shows it as one would type it, but for the place of its files.
toolgate() {
  local word shown=() skip=
  for word in "$@"; do
    if [[ -n $skip ]]; then skip=; elif [[ $word == --config || $word == --data ]]; then skip=yes; else shown+=("$word"); fi
  done
  note "\$ toolgate ${shown[*]}"
  "${program[@]}" "$@"
}

# show COMMAND…: runs it, and shows what it prints unless all is to be quiet
show() { if [[ -n $quiet ]]; then "$@" >/dev/null; else "$@"; fi; }

clean_up() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$data"
}
trap clean_up EXIT

# Packages are installed once for all examples, and never into the system.
tools=${TOOLGATE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/toolgate}

# Sets `python` to an interpreter that has the MCP SDK and the git server, and `packages` to the folder they are in.
python_packages() {
  local place=$tools/examples-python-2026.10.19
  if [[ -n ${EXAMPLE_SERVERS:-} ]]; then # installed already
    python=python3 packages=$EXAMPLE_SERVERS/python
    export PYTHONPATH=$packages
    return
  fi
  if [[ ! -e $place/complete ]]; then
    note "# The MCP SDK and a git server, from PyPI into $place"
    rm -rf "$place"
    python3 -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check mcp==2.3.0 mcp-server-git==2026.10.19
    touch "$place/complete"
  fi
  python=$place/bin/python packages=$("$place/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
}

# Sets `modules` to a folder node_modules that has the filesystem server.
node_packages() {
  local place=$tools/examples-npm-2026.8.31
  if [[ -n ${EXAMPLE_SERVERS:-} ]]; then
    modules=$EXAMPLE_SERVERS/node_modules
    return
  fi
  if [[ ! -e $place/complete ]]; then
    note "# A filesystem server, from npm into $place"
    rm -rf "$place"
    mkdir -p "$place"
    npm install --silent --no-audit --no-fund --prefix "$place" @modelcontextprotocol/server-filesystem@2026.8.31
    touch "$place/complete"
  fi
  modules=$place/node_modules
}

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

# Starts the example's gateway on a free port; `mcp` is its address from then on.
serve() {
  # not through the function: the process to stop at the end is the gateway itself
  "${program[@]}" serve --config "$here/toolgate.toml" --data "$data" --listen 127.0.0.1:0 \
    >"$data/out" 2>"$data/log" &
  server=$!
  for _ in $(seq 6000); do
    mcp=$(sed -n 's|.*\(http://[^ ]*/mcp\).*|\1|p' "$data/out" 2>/dev/null | head -n 1 || true)
    [[ -n $mcp ]] && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$data/log" >&2
  exit 1
}

# mint OPTION…: a token with these attributes
mint() { toolgate token mint --config "$here/toolgate.toml" --data "$data" "$@"; }

# pick EXPRESSION: a value of the JSON on standard input, which is `a`
pick() { python3 -c "import json,sys; a=json.load(sys.stdin); print($1)"; }

# The names on a list, marked ones with a star.
names() {
  pick "' '.join(t['name'] + ('*' if t.get('_meta', {}).get('toolgate/callable') is False else '') for t in a['result']['tools'])"
}

# shown_params PARAMS: the name and the arguments of a call
shown_params() {
  local name=${1#*\"name\":\"}
  if [[ $1 == *'"arguments":'* ]]; then printf '%s %s' "${name%%\"*}" "${1#*\"arguments\":}"; else printf '%s' "$1"; fi
}

# answered COMMAND…: what the command prints, which is shown too, without its envelope
answered() {
  if [[ -n $quiet ]]; then
    "$@"
    return
  fi
  local answer
  answer=$("$@")
  note "<- $(SHOWN=$answer python3 -c '
import json, os
text = os.environ["SHOWN"]
try:
    answer = json.loads(text)
    result = answer.get("result", answer.get("error", answer))
    if "tools" in result:
        text = " ".join(tool["name"] for tool in result["tools"])
    else:
        texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
        text = " ".join(texts) or json.dumps(result, ensure_ascii=False)
except ValueError:
    pass
print(" ".join(text.split()))')"
  printf '%s\n' "$answer"
}

# modern METHOD PARAMS [CURL OPTION…]: one request of protocol 2026-07-28; PARAMS are members of `params`, and the
# variable `meta` has further members of `params._meta`
modern() {
  local method=$1 params=$2 name
  shift 2
  local version='"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
  name=$(printf '{%s}' "$params" | pick "a.get('name', '')")
  note "-> $method $(shown_params "$params")${meta:+ with $meta}"
  answered curl --silent --show-error "$mcp" \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $method" ${name:+-H "Mcp-Name: $name"} "$@" \
    --data "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{\"_meta\":{$version${meta:+,$meta}}${params:+,$params}}}"
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
  note "-> $method $(shown_params "$params") (2025-11-25)"
  answered curl "${common[@]}" --data "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{$params}}"
}

bearer() { printf 'Authorization: Bearer %s' "$1"; }
