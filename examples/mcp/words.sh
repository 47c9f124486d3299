#!/bin/sh
# An MCP server without any library, to see how one works and to try settings
# with: it answers a line with a line. Its tool counts the words of a text.
while read -r line; do
	id=${line#*'"id":'}
	id=${id%%,*}
	answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
	case $line in
	*'"method":"initialize"'*)
		answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"words","version":"1"}}' ;;
	*'"method":"tools/list"'*)
		answer '"result":{"tools":[{"name":"count","description":"counts the words of a text","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}' ;;
	*'"method":"tools/call"'*)
		text=${line#*'"text":"'}
		count=$(printf '%s' "${text%%'"'*}" | wc -w)
		answer '"result":{"content":[{"type":"text","text":"'$((count))' words"}]}' ;;
	*'"id":'*) # whatever else is asked
		answer '"error":{"code":-32601,"message":"not known here"}' ;;
	esac
done
