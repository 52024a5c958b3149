// Commands about one conversation as a whole: its files, a copy, an export.

import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Bellwether, BellwetherError, ServiceError } from '../index.ts'
import { type Command, EXIT, none, type Run, requiredArgument, UsageError, wholeNumber } from './command.ts'
import { exportAll } from './owner.ts'
import { clean, cleanLine, table } from './terminal.ts'

const AT = { type: 'string', value: 'EVENT', words: 'as it was at this event' } as const
const OUTPUT = {
  type: 'string',
  short: 'o',
  value: 'FILE',
  words: 'write into this file, `-` for the standard output',
} as const

const atOf = (run: Run): number | undefined => {
  const at = run.text('at')
  return at === undefined ? undefined : wholeNumber(at, '--at')
}

const ACTIONS: Readonly<Record<string, (run: Run, id: string, args: readonly string[]) => Promise<void>>> = {
  async ls(run, id, args) {
    none(args, 1)
    const names = await run.service.conversation(id).files.list(args[0] ?? '', atOf(run))
    for (const name of names) run.out.isJson ? run.out.json(name) : run.out.line(cleanLine(name))
  },
  async cat(run, id, args) {
    none(args, 1)
    const path = requiredArgument(args, 0, 'the path')
    const text = await textAt(run, id, path)
    if (run.out.isJson) run.out.json({ path, content: text })
    // If the output is not a terminal, the file is not changed.
    else run.out.piece(run.out.isTerminal ? clean(text) : text)
  },
  async put(run, id, args) {
    requiredArgument(args, 0, 'the file')
    const files: Record<string, Uint8Array> = {}
    for (const path of args) {
      if (files[basename(path)] !== undefined) throw new UsageError(`two files are named ${basename(path)}`)
      files[basename(path)] = await readFile(path)
    }
    const { uploaded_files, skipped_files } = await run.service
      .conversation(id)
      .files.upload(files, { unpack: run.is('unpack') })
    if (run.out.isJson) run.out.json({ uploaded_files, skipped_files })
    else for (const path of uploaded_files) run.out.line(cleanLine(path))
    for (const { name, reason } of skipped_files)
      run.out.note(`${cleanLine(name)} was not stored: ${cleanLine(reason)}`)
    if (skipped_files.length > 0) process.exitCode = EXIT.failed
  },
  async get(run, id, args) {
    none(args, 2)
    const path = requiredArgument(args, 0, 'the path')
    const text = await textAt(run, id, path)
    await written(run, args[1] ?? basename(path), Buffer.from(text))
  },
  async zip(run, id, args) {
    none(args, 1)
    await written(run, args[0] ?? `${id}.zip`, await run.service.conversation(id).files.zip(atOf(run)))
  },
}

/** The interface answers 500 for a missing file; the service itself works. */
async function textAt(run: Run, id: string, path: string): Promise<string> {
  try {
    return await run.service.conversation(id).files.read(path, atOf(run))
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.message.startsWith('Error opening file')) throw error
    throw new BellwetherError('not_found', error.message, error)
  }
}

/** An existing file is not overwritten silently. */
async function written(run: Run, file: string, bytes: Uint8Array): Promise<void> {
  if (file === '-') {
    process.stdout.write(bytes)
    return
  }
  try {
    await writeFile(file, bytes, { flag: run.is('force') ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UsageError(`${file} is there already; --force overwrites it`)
  }
  if (run.out.isJson) run.out.json({ file, bytes: bytes.length })
  else run.out.note(`${file}: ${bytes.length} bytes`)
}

export const files: Command = {
  name: 'files',
  summary: 'list, read, upload and download the files of a conversation',
  usage: 'ls|cat|put|get|zip CONVERSATION [PATH…]',
  words: Object.keys(ACTIONS),
  flags: {
    at: AT,
    unpack: { type: 'boolean', words: 'with put: store what is in a ZIP, folders included, in place of the ZIP' },
    force: { type: 'boolean', short: 'f', words: 'overwrite files of this machine' },
  },
  examples: [
    'bellwether files ls 8f14e45fceea467a9b1c0d2e3f405162 src',
    'bellwether files cat 8f14e45fceea467a9b1c0d2e3f405162 README.md | less',
    'bellwether files put 8f14e45fceea467a9b1c0d2e3f405162 notes.txt data.csv',
    'bellwether files get 8f14e45fceea467a9b1c0d2e3f405162 out/result.txt',
    'bellwether files zip 8f14e45fceea467a9b1c0d2e3f405162 workspace.zip',
  ],
  more: 'put stores files in the root of the workspace, under their names. cat and get are for text; zip has everything.',
  async run(run) {
    const action = ACTIONS[requiredArgument(run.args, 0, 'what to do (ls, cat, put, get or zip)')]
    if (action === undefined) throw new UsageError(`files can ls, cat, put, get and zip, not "${run.args[0]}"`)
    await action(run, requiredArgument(run.args, 1, 'the conversation'), run.args.slice(2))
    return Number(process.exitCode ?? EXIT.done)
  },
}

export const fork: Command = {
  name: 'fork',
  summary: 'make a new conversation from one as it was at an event, files included',
  usage: 'CONVERSATION [EVENT]',
  flags: { title: { type: 'string', short: 't', value: 'TEXT', words: 'of the new one' } },
  examples: [
    'bellwether fork 8f14e45fceea467a9b1c0d2e3f405162',
    'bellwether fork 8f14e45fceea467a9b1c0d2e3f405162 42 --title "Another way"',
  ],
  more: 'Without an event as it is now.',
  async run(run) {
    none(run.args, 2)
    const id = requiredArgument(run.args, 0, 'the conversation')
    const event = run.args[1] === undefined ? await newestEvent(run.service, id) : wholeNumber(run.args[1], 'the event')
    const made = await run.service.conversation(id).fork(event, run.text('title'))
    if (run.out.isJson) run.out.json({ conversation_id: made.id, forked_from: id, event_id: event })
    else run.out.line(made.id)
    return EXIT.done
  },
}

async function newestEvent(service: Bellwether, id: string): Promise<number> {
  for await (const { id: newest } of service.conversation(id).search({ reverse: true, limit: 1 })) return newest
  throw new UsageError('the conversation has no events')
}

const FORMATS = ['json', 'zip'] as const

export const exportOf: Command = {
  name: 'export',
  summary: 'keep everything that you have as one archive, or one conversation',
  usage: '[CONVERSATION|FILE.tar]',
  flags: {
    format: { type: 'string', value: 'FORMAT', words: `${FORMATS.join(' or ')}; json by default` },
    output: OUTPUT,
    force: { type: 'boolean', short: 'f', words: 'overwrite the file' },
  },
  examples: [
    'bellwether export everything.tar',
    'bellwether export 8f14e45fceea467a9b1c0d2e3f405162 -o talk.json',
    'bellwether export 8f14e45fceea467a9b1c0d2e3f405162 --format zip',
  ],
  more: `Without a conversation it is everything but secrets, as a tar: conversations with their files, reports, portfolio, settings. Broken off, the same
command goes on where it was, for a day. Of a conversation, json is {"trajectory": […]}: every event, which a new conversation can play as its
replay_json; with --json each event is a line.`,
  async run(run) {
    none(run.args, 1)
    const [id = ''] = run.args
    if (id === '' || id.endsWith('.tar')) {
      await exportAll(run, id || run.text('output') || 'bellwether-export.tar')
      return EXIT.done
    }
    const format = run.text('format') ?? 'json'
    if (!FORMATS.some((one) => one === format)) throw new UsageError(`--format is ${FORMATS.join(' or ')}`)
    const conversation = run.service.conversation(id)
    if (format === 'zip') await written(run, run.text('output') ?? `${id}.zip`, await conversation.files.zip())
    else if (run.out.isJson) for (const event of (await conversation.trajectory()).trajectory) run.out.json(event)
    else
      await written(
        run,
        run.text('output') ?? `${id}.json`,
        Buffer.from(`${JSON.stringify(await conversation.trajectory())}\n`),
      )
    return EXIT.done
  },
}

export const list: Command = {
  name: 'list',
  summary: 'list your conversations, newest first',
  usage: '',
  flags: { limit: { type: 'string', short: 'n', value: 'COUNT', words: 'at most so many; 20 by default, 0 for all' } },
  examples: ['bellwether list', 'bellwether list -n 0 --json | jq -r .conversation_id'],
  async run(run) {
    none(run.args, 0)
    const most = wholeNumber(run.text('limit') ?? '20', '--limit')
    const rows: string[][] = []
    for await (const one of run.service.conversations.list(most > 0 ? { limit: Math.min(most, 100) } : {})) {
      if (run.out.isJson) run.out.json(one)
      rows.push([
        one.conversation_id,
        one.status ?? '',
        one.created_at.slice(0, 16).replace('T', ' '),
        cleanLine(one.title),
      ])
      if (most > 0 && rows.length >= most) break
    }
    if (rows.length === 0) run.out.note('No conversation yet: `bellwether chat` begins one.', 'dim')
    else if (!run.out.isJson)
      run.out.line(table(['conversation', 'status', 'begun', 'title'], rows, { out: run.out, gives: 3 }))
    return EXIT.done
  },
}
