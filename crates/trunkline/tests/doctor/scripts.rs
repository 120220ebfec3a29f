//! Small servers, written as shell scripts.

/// A correct server of the legacy era. `$1` of `answer` is the result.
pub(crate) const SERVER: &str = r#"
answer() { id=${line#*\"id\":}; id=${id%%,*}; printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  case $line in
    *'"method":"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '"result":{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"method":"tools/call"'*) answer '"result":{"content":[{"type":"text","text":"fine"}]}' ;;
    *'"id":'*) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
"#;

/// A server of the modern era.
pub(crate) const MODERN: &str = r#"
answer() { id=${line#*\"id\":}; id=${id%%,*}; printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  case $line in
    *'"method":"server/discover"'*) answer '"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}' ;;
    *'"id":'*) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
"#;

/// The server with the response to one method replaced.
pub(crate) fn server_with(method: &str, answer: &str) -> String {
    let case = format!("    *'\"method\":\"{method}\"'*) {answer} ;;\n");
    SERVER.replacen("  case $line in\n", &format!("  case $line in\n{case}"), 1)
}
