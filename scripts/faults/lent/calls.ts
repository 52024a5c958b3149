// Tool calls under faults: a program on the machine writes a line where it runs, waits and answers. The model that
// calls it is scripted.

import type { Respond } from '../../../test/support/scripted-model.ts'

/** A message that requests a call: the key of the step, and the duration of the call in ms. */
export const MARK = 'mark'

const PROGRAM = `import json, os, sys, time
home = "/home/agent" if os.path.isdir("/home/agent") else "../home"
def answer(to, result):
    print(json.dumps({"jsonrpc": "2.0", "id": to, "result": result}), flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said: continue
    if said["method"] == "initialize":
        answer(said["id"], {"protocolVersion": said["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "mark", "version": "1"}})
    elif said["method"] == "tools/list":
        answer(said["id"], {"tools": [{"name": "mark", "inputSchema": {"type": "object"}}]})
    elif said["method"] == "tools/call":
        given = said["params"]["arguments"]
        with open(f"{home}/runs-{given['key']}", "a") as runs: runs.write("x")
        time.sleep(given["restMs"] / 1000)
        answer(said["id"], {"content": [{"type": "text", "text": "called for " + given["key"]}]})
    else: answer(said["id"], {})
`
export const SERVER = { name: 'mark', command: 'python3', args: ['-u', '-c', PROGRAM] }

export const CALLED = (key: string): string => `"text":"called for ${key}"`

type Message = { role: string; content?: unknown }

/** One call for each message that requests one, and a text after its outcome. */
export const answerWithCall: Respond = ({ body }) => {
  const { messages = [] } = body as { messages?: Message[] }
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && orderIn(content) !== null)
  const order = orderIn(messages[asked]?.content)
  const isAnswered = messages.slice(asked + 1).some(({ role }) => role === 'tool')
  if (order === null || isAnswered) return { text: 'done' }
  return { calls: [{ id: order.key, name: 'mark', arguments: order }] }
}

function orderIn(content: unknown): { key: string; restMs: number } | null {
  const [, key, restMs] = new RegExp(`\\b${MARK} (\\S+) (\\d+)`).exec(JSON.stringify(content ?? '')) ?? []
  return key === undefined ? null : { key, restMs: Number(restMs) }
}
