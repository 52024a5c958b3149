import { createInterface, type Interface } from 'node:readline/promises'
import { text as textOf } from 'node:stream/consumers'
import { type Conversation, ServiceError, type Stand } from '../index.ts'
import { type Command, EXIT, type Run, UsageError } from './command.ts'
import { showUntilRest, Transcript } from './show.ts'
import { cleanLine } from './terminal.ts'

const AGENTS = ['CodeActAgent', 'ReadOnlyAgent', 'ShellAgent'] as const
const RUNTIMES = ['auto', 'edge', 'runner'] as const

export const chat: Command = {
  name: 'chat',
  summary: 'talk to an agent: one message, or a conversation at the terminal',
  usage: '[MESSAGE…]',
  flags: {
    conversation: {
      type: 'string',
      short: 'c',
      value: 'ID',
      words: 'go on with this conversation; a new one by default',
    },
    agent: { type: 'string', value: 'NAME', words: `of a new one: ${AGENTS.join(', ')}` },
    model: { type: 'string', value: 'NAME', words: 'of a new one: provider/model' },
    repo: { type: 'string', value: 'REPO', words: 'of a new one: owner/name or an address' },
    runtime: { type: 'string', value: 'WHERE', words: `of a new one: ${RUNTIMES.join(', ')}` },
    yes: { type: 'boolean', short: 'y', words: 'confirm every action that waits for you, unseen' },
  },
  examples: [
    'bellwether chat',
    'bellwether chat "Why does the test fail?" --repo octocat/hello-world',
    'git diff | bellwether chat -c 8f14e45fceea467a9b1c0d2e3f405162 "Review this:"',
    'bellwether chat --json "wc -l *" | jq -r .message',
  ],
  more: `Without a message, at a terminal: every line is a message. Ctrl-C pauses the agent, a second one ends the
command that runs, a third one leaves, and so does Ctrl-D.
Text on the standard input is added to the message. The exit code is 1 when the agent ended with an error or waits for a
confirmation that nobody can give.`,
  async run(run) {
    const message = await messageOf(run)
    const isTalk = message === ''
    // Checked before anything is created.
    if (isTalk && !(run.out.isTerminal && process.stdin.isTTY)) throw new UsageError('there is no message')
    const talk = new Talk(run, await openOrCreate(run))
    return isTalk ? talk.go() : talk.once(message)
  },
}

async function messageOf({ args }: Run): Promise<string> {
  const piped = process.stdin.isTTY ? '' : (await textOf(process.stdin)).trim()
  return [args.join(' ').trim(), piped].filter((part) => part !== '').join('\n\n')
}

async function openOrCreate(run: Run): Promise<Conversation> {
  const id = run.text('conversation')
  if (id !== undefined) {
    const conversation = run.service.conversation(id)
    const info = await conversation.info()
    if (info === null) throw new UsageError(`there is no conversation ${id}`)
    if (info.status === 'STOPPED') await conversation.start()
    return conversation
  }
  const agent = oneOf(AGENTS, run.text('agent'), '--agent')
  const runtime = oneOf(RUNTIMES, run.text('runtime'), '--runtime')
  const [model, repository] = [run.text('model'), run.text('repo')]
  const query = { ...(agent && { agent }), ...(runtime && { runtime }), ...(model && { model }) }
  const conversation = await run.service.conversations.create(repository === undefined ? {} : { repository }, query)
  run.out.note(`conversation ${conversation.id}`, 'dim')
  return conversation
}

function oneOf<T extends string>(all: readonly T[], value: string | undefined, flag: string): T | undefined {
  const found = all.find((one) => one === value)
  if (value !== undefined && found === undefined) throw new UsageError(`${flag} is one of ${all.join(', ')}`)
  return found
}

class Talk {
  readonly #run: Run
  readonly #conversation: Conversation
  readonly #transcript: Transcript
  #prompt: Interface | null = null
  /** The number of Ctrl-C presses in this turn. */
  #presses = 0

  constructor(run: Run, conversation: Conversation) {
    this.#run = run
    this.#conversation = conversation
    this.#transcript = new Transcript(run.out, { showsUser: false })
  }

  async once(message: string): Promise<number> {
    const interrupt = () => this.#interrupted()
    process.on('SIGINT', interrupt)
    try {
      const stand = await this.#say(message)
      if (this.#run.out.isJson) this.#run.out.json({ conversation_id: this.#conversation.id, ...stand })
      if (this.#presses > 0) return EXIT.interrupted
      return ['error', 'awaiting_user_confirmation'].includes(stand.state) ? EXIT.failed : EXIT.done
    } finally {
      process.off('SIGINT', interrupt)
    }
  }

  async go(): Promise<number> {
    const { out } = this.#run
    out.note('Ctrl-C pauses the agent, Ctrl-D leaves.', 'dim')
    const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: true })
    this.#prompt = lines
    let working = false
    lines.on('SIGINT', () => (working ? this.#interrupted() : lines.close()))
    lines.setPrompt(out.color.bold('› '))
    lines.prompt()
    for await (const line of lines) {
      if (line.trim() !== '') {
        working = true
        this.#presses = 0
        await this.#guarded(line)
        working = false
      }
      lines.prompt()
    }
    out.note('')
    out.note(`To go on: bellwether chat -c ${this.#conversation.id}`, 'dim')
    return EXIT.done
  }

  /** A refusal ends the turn, not the chat. */
  async #guarded(line: string): Promise<void> {
    try {
      await this.#say(line)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status === 401) throw error
      this.#run.out.note(cleanLine(error.message), 'red')
    }
  }

  async #say(message: string): Promise<Stand> {
    let stand = await showUntilRest(this.#conversation.turn(message), this.#transcript)
    while (stand.state === 'awaiting_user_confirmation') {
      const answer = await this.#askForConfirmation()
      if (answer === null) break
      const agent_state = answer ? ('user_confirmed' as const) : ('user_rejected' as const)
      const args = { agent_state, action_id: this.#transcript.awaiting?.id ?? -1 }
      stand = await showUntilRest(this.#conversation.perform({ action: 'change_agent_state', args }), this.#transcript)
    }
    return stand
  }

  /** Null if there is no user to ask. */
  async #askForConfirmation(): Promise<boolean | null> {
    const { out } = this.#run
    if (this.#run.is('yes')) return true
    if (!out.isTerminal || process.stdin.isTTY !== true || out.isJson) {
      out.note(
        `An action waits for your confirmation: bellwether chat -c ${this.#conversation.id}, or once more with --yes.`,
      )
      return null
    }
    const own = this.#prompt === null ? createInterface({ input: process.stdin, output: process.stdout }) : null
    const said = await (this.#prompt ?? own)?.question(out.color.yellow('Do this? [y/N] '))
    own?.close()
    return /^y(es)?$/i.test((said ?? '').trim())
  }

  /** A pause lets a running command finish; a stop ends it. */
  #interrupted(): void {
    const { out } = this.#run
    this.#presses += 1
    if (this.#presses > 2) process.exit(EXIT.interrupted)
    const isFirst = this.#presses === 1
    const words = isFirst ? 'pausing; Ctrl-C once more ends the command that runs' : 'stopping; Ctrl-C once more leaves'
    out.note(`\n${words}`, 'dim')
    const asked = isFirst ? this.#conversation.pause() : this.#conversation.interrupt()
    asked.catch((error: unknown) =>
      out.note(`It was not done: ${error instanceof Error ? cleanLine(error.message) : String(error)}`),
    )
  }
}
