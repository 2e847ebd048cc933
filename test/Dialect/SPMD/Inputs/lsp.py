"""Drives shard-lsp-server as an editor does, one request after the other: lsp.py SERVER MODEL"""

import json
import subprocess
import sys

server = subprocess.Popen(sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
text = open(sys.argv[2]).read()
document = {"uri": "test:///model.mlir"}


def send(method, params, id=None):
    message = json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(message) + message)
    server.stdin.flush()


def receive():
    length = 0
    while (line := server.stdout.readline().strip()) or not length:
        if not line and server.poll() is not None:
            sys.exit("the server ended")
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
    return json.loads(server.stdout.read(length))


def call(method, **params):
    """The result, and the diagnostics that came before it."""
    send(method, params, id=1)
    while (message := receive()).get("id") != 1 or "method" in message:
        if message.get("method") == "textDocument/publishDiagnostics":
            diagnostics[:] = message["params"]["diagnostics"]
    return message.get("result")


def find(word, number=0):
    """The position after a word."""
    offset = -1
    for _ in range(number + 1):
        offset = text.index(word, offset + 1)
    line = text.count("\n", 0, offset)
    return {"line": line, "character": offset - text.rfind("\n", 0, offset) - 1 + len(word)}


def edit(old, new):
    global text
    text = text.replace(old, new, 1)
    send("textDocument/didChange", {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": text}]})


diagnostics = []
capabilities = call("initialize", processId=1, rootUri=None, capabilities={})["capabilities"]
print("capabilities:", capabilities["inlayHintProvider"], capabilities["codeActionProvider"])
send("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}})
for hint in call("textDocument/inlayHint", textDocument=document, range={"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}):
    print("hint:", hint["position"]["line"], hint["label"])
for value, number in (("%x", 0), ("%0", 1)):
    print("hover:", " ".join(call("textDocument/hover", textDocument=document, position=find(value, number))["contents"]["value"].split()))


def complete(old, new, before):
    edit(old, new)
    items = call("textDocument/completion", textDocument=document, position=find(before))["items"]
    print("completion:", *[i["label"] for i in items])
    edit(new, old)


complete("#spmd.sharding<@pod", "#spmd.", "#spmd.")
complete("#spmd.sharding<@pod", "#spmd.sharding<@", "sharding<@")
complete('{"data"}', '{"data", "', '{"data", "')
complete("[{\"data\"}, {}]", "[{\"data\"}, {}], ", "{}], ")


def fix(old, new):
    edit(old, new)
    call("textDocument/hover", textDocument=document, position=find("%x"))
    for diagnostic in diagnostics:
        print("diagnostic:", diagnostic["message"].splitlines()[0])
    where = diagnostics[0]["range"]
    for action in call("textDocument/codeAction", textDocument=document, range=where, context={"diagnostics": diagnostics}):
        if action["title"].startswith("Replace"):
            change = action["edit"]["changes"][document["uri"]][0]
            line = text.splitlines()[change["range"]["start"]["line"]]
            assert line[change["range"]["start"]["character"] : change["range"]["end"]["character"]] in action["title"]
            print("fix:", action["title"], action["isPreferred"])
    edit(new, old)


fix('{"data"}', '{"date"}')
fix('{"data"}', '{4, "data"}')
call("shutdown")
send("exit", {})
print("exit:", server.wait(timeout=60))
