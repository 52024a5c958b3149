// Credentials for git, requested when git needs them: by a helper in the sandbox, through this socket, from the object,
// which answers only for hosts that the owner configured. Nothing is stored here.

import { createServer, type Server, type Socket } from 'node:net'
import { type Credential, CredentialAsk } from '../../src/runners/wire.ts'
import { type Log, messageOf } from './log.ts'
import { Folder } from './sync/folder.ts'

export type AskCredential = (wanted: CredentialAsk) => Promise<Credential | null>

const MAX_QUESTION_BYTES = 16 * 1024
const MAX_CONNECTIONS = 16
/** For a program that connects and sends no request. */
const IDLE_MS = 60_000

export class CredentialSocket {
  readonly #server: Server
  readonly #open = new Set<Socket>()

  constructor(runFolder: string, { ask, log }: { ask: AskCredential; log: Log }) {
    // The helper sends its whole request before it reads.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#open.add(socket)
      socket.on('close', () => this.#open.delete(socket))
      answerOn(socket, ask, log)
    })
    this.#server.maxConnections = MAX_CONNECTIONS
    // Open as long as the server is: a socket's path may have only 107 characters, and this one is short.
    const folder = Folder.root(runFolder)
    this.#server.on('close', () => folder.close())
    this.#server.on('error', (error) => log('credentials.failed', { message: error.message }))
    this.#server.listen(folder.at('credentials.sock'))
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }
}

function answerOn(socket: Socket, ask: AskCredential, log: Log): void {
  let question = ''
  let isAsked = false
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  const answer = () => {
    if (isAsked) return
    isAsked = true
    answerTo(question, ask).then(
      (text) => socket.end(text),
      (error) => {
        log('credentials.unanswered', { message: messageOf(error) })
        socket.end()
      },
    )
  }
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    question += chunk
    if (question.length > MAX_QUESTION_BYTES) socket.destroy()
    // An empty line ends the request.
    else if (/(^|\n)\n/.test(question)) answer()
  })
  socket.on('end', answer)
}

async function answerTo(question: string, ask: AskCredential): Promise<string> {
  const fields = new Map(
    question.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const wanted = CredentialAsk.safeParse({
    protocol: fields.get('protocol'),
    host: fields.get('host'),
    path: fields.get('path') ?? '',
  })
  const found = wanted.success ? await ask(wanted.data) : null
  // A line break would start another field.
  if (found === null || /[\n\0]/.test(found.username + found.password)) return ''
  return `username=${found.username}\npassword=${found.password}\n`
}
