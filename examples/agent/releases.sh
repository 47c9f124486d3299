#!/bin/sh
# An MCP server over stdio, as small as one can be: a JSON message a line comes
# in, one goes out. Its one tool tells the number of the next release.
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }

while IFS= read -r message; do
  id=$(printf '%s' "$message" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  test -n "$id" || continue # a notification wants no answer
  case $message in
  *'"method":"initialize"'*)
    version=$(printf '%s' "$message" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
    answer '{"protocolVersion":"'"$version"'","capabilities":{"tools":{}},"serverInfo":{"name":"releases","version":"1"}}'
    ;;
  *'"method":"tools/list"'*)
    answer '{"tools":[{"name":"next_version","description":"the number of the next release","inputSchema":{"type":"object","properties":{},"additionalProperties":false}}]}'
    ;;
  *'"method":"tools/call"'*)
    answer '{"content":[{"type":"text","text":"'"$(cat next-version.txt)"'"}],"isError":false}'
    ;;
  *'"method":"ping"'*) answer '{}' ;;
  *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done
