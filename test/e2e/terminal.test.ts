// Two people in one terminal: a real service, a real runner with its sandbox, a real shell.

import { afterAll, beforeAll, expect, inject, test as plain } from 'vitest'
import WebSocket from 'ws'
import { LentMachine, missingForSandbox } from '../support/lent-machine.ts'

const test = missingForSandbox() === null ? plain : plain.skip
let machine: LentMachine

beforeAll(async () => {
  if (missingForSandbox() === null) machine = await LentMachine.start()
})
afterAll(() => machine?.stop())

type Viewer = ReturnType<typeof look>

/** A person's terminal: what it shows, and what it was told. */
function look(path: string, query = 'cols=100&rows=30') {
  const socket = new WebSocket(`ws://127.0.0.1:${machine.service.port}${path}/terminal?${query}`)
  const viewer = {
    socket,
    text: '',
    bytes: 0,
    position: 0,
    terminal: '',
    keeps: true,
    said: [] as Record<string, unknown>[],
    closed: null as number | null,
    status: 101,
    type: (text: string) => socket.send(Buffer.from(text)),
    say: (message: Record<string, unknown>) => socket.send(JSON.stringify(message)),
    last: (type: string) => viewer.said.filter((one) => one.type === type).at(-1),
    /** Runs a line and waits for what it prints. */
    async run(line: string, shown: string | RegExp) {
      viewer.type(`${line}\r`)
      await viewer.shows(shown)
    },
    shows: (shown: string | RegExp) =>
      expect.poll(() => (typeof shown === 'string' ? viewer.text.includes(shown) : shown.test(viewer.text))).toBe(true),
    again: () => look(path, `cols=100&rows=30&terminal=${viewer.terminal}&position=${viewer.position}`),
  }
  socket.on('unexpected-response', (_request, answer) => {
    viewer.status = answer.statusCode ?? 0
    answer.resume()
  })
  socket.on('error', () => {})
  socket.on('close', (code) => {
    viewer.closed = code
  })
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) {
      const said = JSON.parse(data.toString())
      viewer.said.push(said)
      if (said.type === 'ready') viewer.terminal = said.terminal
      return
    }
    viewer.position = Number(data.readBigUInt64BE(0))
    viewer.bytes += data.byteLength - 8
    if (viewer.keeps) viewer.text += data.subarray(8).toString()
    viewer.say({ type: 'ack', position: viewer.position })
  })
  return viewer
}

async function opened(path: string, query?: string): Promise<Viewer> {
  const viewer = look(path, query)
  await expect.poll(() => viewer.last('ready')).toBeDefined()
  return viewer
}

const sizeOf = (viewer: Viewer) => viewer.text.match(/size (\d+ \d+)/g)?.at(-1)

test('two people type in one shell and see the same: size, Unicode, pages, files for the agent, and what the agent made', async () => {
  const path = await machine.conversation()
  await machine.run(path, 'echo from-the-agent > made.txt')
  const ann = await opened(path)
  const bob = await opened(path, 'cols=90&rows=40')
  await ann.run('echo "size $(stty size)"', /size 30 90/)
  await bob.shows(/size 30 90/)
  bob.say({ type: 'resize', cols: 120, rows: 50 })
  await expect.poll(() => ann.last('size')).toMatchObject({ cols: 100, rows: 30 })
  await bob.run('echo "size $(stty size)"', /size 30 100/)
  expect(sizeOf(ann)).toBe('size 30 100')
  await bob.run('cat made.txt; tty > /dev/null; echo "Grüße 世界 🧪"', /from-the-agent\r\nGrüße 世界 🧪/)
  await ann.shows(/Grüße 世界 🧪/)
  // A pager fills the other screen and goes.
  await ann.run('seq 1 500 | less', '\x1b[?1049h')
  bob.type('q')
  await bob.shows('\x1b[?1049l')
  await ann.run('mkdir -p a && echo typed > a/by-hand.txt && echo done-$((1+1))', /done-2/)
  // As those of a command in the background.
  await expect
    .poll(async () => JSON.stringify(await machine.call(`${path}/select-file?file=a/by-hand.txt`)))
    .toContain('typed')
  expect((await machine.run(path, 'cat a/by-hand.txt')).content).toBe('typed')
  // What is saved in the service is there for the next line.
  const form = new FormData()
  form.append('files', new File(['edited'], 'edited.txt'))
  await fetch(`${machine.service.url}${path}/upload-files`, { method: 'POST', body: form })
  await bob.run('cat edited.txt; echo; echo end-$((2+2))', /edited\r\nend-4/)
  // Neither disturbs the other.
  const slow = machine.run(path, 'sleep 1; echo agent-done')
  await ann.run('cd /tmp && pwd && export MINE=1', /\/tmp/)
  expect((await slow).content).toBe('agent-done')
  expect((await machine.run(path, 'pwd; echo "[$MINE]"')).content).toBe('/workspace\n[]')
  for (const viewer of [ann, bob]) viewer.socket.close()
})

/** Prints so much, and gives the most memory that service and runner had meanwhile. */
async function flooded(viewer: Viewer, megabytes: number): Promise<number> {
  const upTo = viewer.bytes + megabytes * 1e6
  let most = 0
  viewer.type(`yes 0123456789abcdef | head -c ${megabytes}000000; echo\r`)
  const isOver = () => {
    most = Math.max(most, machine.residentBytes())
    return viewer.closed !== null || viewer.bytes > upTo
  }
  await expect.poll(isOver, { timeout: 300_000, interval: 50 }).toBe(true)
  expect(viewer.closed).toBeNull()
  return most
}

test('a program that writes without end is as fast as its reader, takes no memory, and can be interrupted', async () => {
  const path = await machine.conversation()
  const viewer = await opened(path)
  viewer.keeps = false
  const more = inject('isProof') ? 500 : 100
  // What the two runtimes take before they clean up for the first time is there after the first.
  const before = await flooded(viewer, 50)
  const after = await flooded(viewer, more)
  expect((after - before) / 1e6).toBeLessThan(90)
  viewer.keeps = true
  viewer.type('yes no-end\r')
  await viewer.shows(/no-end/)
  viewer.type('\x03')
  await viewer.run('echo "after $((3*3))"', /after 9/)
  viewer.socket.close()
})

test('after a kill of the service viewers go on with what they have, in the same shell; after one of the runner they are told, and get a new shell', async () => {
  const path = await machine.conversation()
  const ann = await opened(path)
  await ann.run('HERE=same; echo "one $((40+2))"', /one 42/)
  await machine.restartService()
  await expect.poll(() => ann.closed).not.toBeNull()
  const again = ann.again()
  await expect.poll(() => again.last('ready')).toMatchObject({ terminal: ann.terminal, reset: false })
  await again.run('echo "two $HERE"', /two same/)
  expect(again.text).not.toContain('one 42')
  await machine.restartRunner()
  await expect.poll(() => again.last('lost')).toBeDefined()
  again.say({ type: 'start' })
  await expect.poll(() => again.said.filter(({ type }) => type === 'ready').length).toBe(2)
  expect(again.last('ready')).toMatchObject({ reset: true })
  await again.run('echo "three [$HERE]"', /three \[\]/)
  await again.run('exit', /exit/)
  await expect.poll(() => again.last('ended')?.message).toBe('The shell ended (exit code 0).')
  again.socket.close()
})

test('what a program writes cannot make the terminals of its viewers act or answer', async () => {
  const path = await machine.conversation()
  const viewer = await opened(path)
  const attack = String.raw`\e]0;title\a\e]52;c;cm0=\a\e]8;;http://x\e\\link\e]8;;\e\\\eP$qm\e\\\e[c\e[6n\e[>q\e[21t\e[5i\e[?1004h\x05`
  await viewer.run(`printf '<${attack}>\\n'`, /<link>\r\n/)
  const shown = /<link>[\s\S]*$/.exec(viewer.text)?.[0] ?? ''
  expect(shown.replaceAll('\x1b', 'ESC')).not.toMatch(/ESC[\]P_^X]|ESC\[[\d;?>]*[cntiq]/)
  // A paste is one even where it holds the mark of its end.
  viewer.say({ type: 'paste', text: 'echo p-$((5+5))\x1b[201~\necho q-$((6+6))\n' })
  viewer.type('\x15')
  await viewer.run('echo r-$((7+7))', /r-14/)
  expect(viewer.text).not.toMatch(/p-10|q-12/)
  viewer.socket.close()
})

test('a conversation that ends takes its terminal along, and one at the edge has none', async () => {
  const path = await machine.conversation()
  const viewer = await opened(path)
  await machine.call(`${path}/stop`, { method: 'POST' })
  await expect.poll(() => viewer.closed).toBe(1000)
  const stopped = look(path)
  await expect.poll(() => stopped.status).toBe(409)
  const reason = 'The conversation is stopped; start it first'
  expect(await machine.call(`${path}/terminal`)).toEqual({ available: false, reason })
})
