// The recall observations: the description of the workspace with the first message, and the microagents that a message
// triggers. Microagents are files in the workspace, so they are read in the step that needs them.

import { must } from '../../lib/assert.ts'
import { log } from '../../lib/log.ts'
import type { LanguageModel } from '../../llm/model.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { staysInWorkspace } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import type { NewEvent, StoredEvent } from '../events.ts'
import {
  type Match,
  type Microagent,
  type MicroagentSet,
  matchMicroagents,
  OWN_DIRECTORY,
  parseMicroagent,
  plainMicroagent,
  REFERENCE_DIRECTORY,
  type Remark,
} from '../microagents.ts'
import { errorObservation, knowledgeRecalled, USER_ONLY, workspaceContext } from '../observations.ts'
import type { PendingRecall } from '../turn.ts'
import type { TurnDeps } from '../turn-deps.ts'
import type { Entry, History } from './history.ts'

type KnowledgeDeps = Pick<TurnDeps, 'turn' | 'calls' | 'emit' | 'surroundings' | 'microagents'>

/** The names of microagents that the agent has received: it does not get them twice. */
const GIVEN = 'knowledge_given'

export class Knowledge {
  readonly #deps: KnowledgeDeps

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps
  }

  /** Stores the recall observations that are due since the last step. */
  async catchUp(): Promise<void> {
    const { turn, emit, microagents } = this.#deps
    const { recalls } = turn.value
    if (recalls.length === 0) return
    const { microagents: known, remarks } = await microagents()
    const found: NewEvent[] = []
    for (const recall of recalls) {
      found.push(this.#recalled(recall, known))
      if (recall.isFirst && remarks.length > 0) found.push(leftOut(remarks))
    }
    // A message may have arrived meanwhile: its recall action stays open.
    turn.change({ recalls: turn.value.recalls.slice(recalls.length) })
    emit(found)
  }

  #recalled({ cause, query, isFirst }: PendingRecall, known: readonly Microagent[]): NewEvent {
    const { turn, surroundings } = this.#deps
    const knowledge = this.#unheard(matchMicroagents(known, query))
    if (!isFirst) return knowledge.length === 0 ? nothingFound(cause) : knowledgeRecalled(cause, knowledge)
    const instructions = known.flatMap(({ kind, content }) => (kind === 'repo' ? [content] : [])).join('\n\n')
    return workspaceContext(cause, surroundings(turn.value.shell.cwd), { instructions, knowledge })
  }

  #unheard(matches: readonly Match[]): Match[] {
    const { calls } = this.#deps
    const given = new Set((calls.recall(GIVEN) ?? []) as string[])
    const unheard = matches.filter(({ name }) => !given.has(name))
    if (unheard.length > 0) calls.remember(GIVEN, [...given, ...unheard.map(({ name }) => name)])
    return unheard
  }
}

function leftOut(remarks: MicroagentSet['remarks']): NewEvent {
  const lines = remarks.map(({ path, reason }) => `${path}: ${reason}`)
  const text = `Some notes of the project were left out.\n${lines.join('\n')}`
  return errorObservation('environment', text, { errorId: USER_ONLY })
}

const nothingFound = (cause: number): NewEvent => ({
  source: 'environment',
  message: '',
  cause,
  observation: 'null',
  content: '',
  extras: {},
})

// A model without image input gets a note for each picture; the shell agent gets nothing. The user is told once for
// each such model.

type PictureDeps = Pick<TurnDeps, 'calls' | 'emit'>

/** The models about which the user was told. */
const TOLD = 'unseen_pictures_told'
const SHELL = 'shell'

export function tellUnseen(deps: PictureDeps, history: History, model: LanguageModel): void {
  if (model.seesImages) return
  if (toldOf(deps).includes(model.id) || !history.entries().some(holdsPicture)) return
  const text = `The model ${model.id} sees no pictures, so those of this conversation were not sent to it. Say in words what is on them, or choose a model that sees pictures (llm_model).`
  tell(deps, model.id, text)
}

/** For a message that is about to run as a script. */
export function tellUnseenByShell(deps: PictureDeps, input: StoredEvent): void {
  if (input.kind !== 'action:message' || toldOf(deps).includes(SHELL)) return
  // Stored by this service: an action that was validated when it arrived.
  const { args } = JSON.parse(input.text) as { args: { image_urls: string[] | null } }
  if ((args.image_urls ?? []).length === 0) return
  tell(deps, SHELL, 'No language model works in this conversation, so nobody looks at the pictures of a message.')
}

const toldOf = ({ calls }: PictureDeps) => (calls.recall(TOLD) ?? []) as string[]

function tell(deps: PictureDeps, who: string, text: string): void {
  deps.calls.remember(TOLD, [...toldOf(deps), who])
  deps.emit([errorObservation('environment', text, { errorId: USER_ONLY })])
}

const holdsPicture = ({ content }: Entry): boolean =>
  content.kind === 'user' && content.parts.some(({ type }) => type === 'image')

// Where the microagents of a conversation come from. Sources later in the order win on equal names: the built-in ones,
// instruction files of other formats, the directory that existing repositories have, and Bellwether's own.

/** Instruction files of other agents, each always on under the first name. */
const RULE_FILES = [
  ['cursorrules', '.cursorrules'],
  ['windsurfrules', '.windsurfrules'],
  ['clinerules', '.clinerules'],
  ['copilot', '.github/copilot-instructions.md'],
  ['gemini', 'GEMINI.md'],
  ['claude', 'CLAUDE.md'],
  ['agents', 'AGENTS.md'],
] as const

const MAX_FILE_BYTES = 256 * 1024
const MAX_FILES = 200
const MAX_DEPTH = 8

/** The microagents of a conversation, with a line in the log about what was left out. */
export async function loadMicroagents(fs: FileSystem, roots: readonly string[]): Promise<Microagent[]> {
  const { microagents, remarks } = await readMicroagents(fs, roots)
  if (remarks.length > 0) log.warn('microagents.left_out', { remarks })
  return microagents
}

/**
 * Reads all of them; an invalid file costs only itself. `roots` are the workspace and, if there is one, the repository
 * in it, which then is the project. The reference's instruction file is searched in all roots, from first to last;
 * everything else only in the last one.
 */
export async function readMicroagents(fs: FileSystem, roots: readonly string[]): Promise<MicroagentSet> {
  const found = new Map(builtinMicroagents().map((microagent) => [microagent.name, microagent]))
  const remarks: Remark[] = []
  const project = roots.at(-1)
  if (project === undefined) return { microagents: [...found.values()], remarks }
  const rules = RULE_FILES.map(([name, file]) => [name, [`${project}/${file}`]] as const)
  for (const [name, places] of [
    ['repo_legacy', roots.map((root) => `${root}/${REFERENCE_DIRECTORY}_instructions`)] as const,
    ...rules,
  ]) {
    const path = places.find((place) => isThere(fs, place))
    const text = path === undefined ? null : await readText(fs, path, remarks)
    if (text !== null) found.set(name, plainMicroagent(name, text))
  }
  for (const directory of [REFERENCE_DIRECTORY, OWN_DIRECTORY]) {
    const folder = `${project}/${directory}/microagents`
    for (const name of markdownFiles(fs, folder, remarks)) {
      const microagent = await readOne(fs, { folder, name }, remarks)
      if (microagent !== null) found.set(microagent.name, microagent)
    }
  }
  return { microagents: [...found.values()], remarks }
}

async function readOne(
  fs: FileSystem,
  { folder, name }: { folder: string; name: string },
  remarks: Remark[],
): Promise<Microagent | null> {
  const path = `${folder}/${name}.md`
  const text = await readText(fs, path, remarks)
  if (text === null) return null
  const parsed = parseMicroagent(name, text)
  remarks.push(...(parsed.ok ? parsed.warnings : [parsed.reason]).map((reason) => ({ path, reason })))
  return parsed.ok ? parsed.microagent : null
}

/** The paths below the folder, without `.md`, of all Markdown files except READMEs, in a fixed order. */
function markdownFiles(fs: FileSystem, folder: string, remarks: Remark[]): string[] {
  const names: string[] = []
  const walk = (below: string, depth: number): void => {
    if (depth > MAX_DEPTH) return void remarks.push({ path: `${folder}/${below}`, reason: 'Too deep' })
    for (const { name, kind } of fs.list(`${folder}/${below}`)) {
      // Links to directories are not followed, because they could form a cycle.
      if (kind === 'directory') walk(`${below}${name}/`, depth + 1)
      else if (name.endsWith('.md') && name !== 'README.md') names.push(`${below}${name.slice(0, -3)}`)
    }
  }
  if (isDirectory(fs, folder)) walk('', 1)
  if (names.length > MAX_FILES) remarks.push({ path: folder, reason: `Only the first ${MAX_FILES} files are read` })
  return names.slice(0, MAX_FILES)
}

function isThere(fs: FileSystem, path: string): boolean {
  return statAt(fs, path)?.kind === 'file'
}

function isDirectory(fs: FileSystem, path: string): boolean {
  return statAt(fs, path)?.kind === 'directory' && staysInWorkspace(fs, path)
}

async function readText(fs: FileSystem, path: string, remarks: Remark[]): Promise<string | null> {
  const refuse = (reason: string) => {
    remarks.push({ path, reason })
    return null
  }
  try {
    const { kind, sizeBytes } = fs.stat(path)
    if (kind !== 'file' || !staysInWorkspace(fs, path)) return refuse('Not a file of the workspace')
    if (sizeBytes > MAX_FILE_BYTES) return refuse(`Larger than ${MAX_FILE_BYTES} bytes`)
    const bytes = await fs.read(path)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch (error) {
    if (isFileError(error)) return refuse(error.message)
    if (error instanceof TypeError) return refuse('Not UTF-8')
    throw error
  }
}

// The microagents that every conversation has, in the same format as a user's own.

const GIT_HOSTS = `---
name: git-hosts
version: 1.0.0
triggers:
  - github
  - gitlab
  - bitbucket
  - pull request
  - merge request
---
# Working with a repository on a git host

- Use \`git\` over https. There is no ssh here, so rewrite an address like \`git@host:owner/name.git\` to
  \`https://host/owner/name.git\`.
- When the owner has stored a token for the host, it stands in the environment as \`GITHUB_TOKEN\`, \`GITLAB_TOKEN\` or
  \`BITBUCKET_TOKEN\`. Never print it, never write it into a file, a commit, a remote address or a message.
- Command line clients of the hosts (\`gh\`, \`glab\`) do not exist here. Ask for a pull or merge request through the tool
  that is offered for it; without one, push the branch and tell the user what to open.
- Work on a branch of its own. Never push to the default branch, never force a push and never rewrite published history
  unless the user asked for exactly that.
- Before a commit, look at \`git status\` and \`git diff\`, and add files by name, so that nothing goes in by accident. Keep
  one idea to a commit and say in its message why.
- Once a branch has been pushed for the user to review, add commits to it instead of opening a second one.
`

const REVIEW_CHANGES = `---
name: review-changes
version: 1.0.0
inputs:
  - name: scope
    description: What to review - the uncommitted changes, a branch, or certain files
---
Review the given scope as a careful colleague would. Change nothing.

1. Find out what the change is for, from the user's words, the commit messages and the code around it.
2. Read every changed line, and enough of what calls it to know what it does there.
3. Look for, in this order: wrong results, lost or leaked data, broken promises to callers, missing handling of bad
   input, missing tests, needless complexity, names and comments that mislead.
4. Report what you found, the worst first: the file and line, what happens in which case, and what to do about it. Say
   what you did not check. If nothing is wrong, say only that.
`

const SHELL_LIMITS = `---
name: shell-limits
version: 1.0.0
triggers:
  - npm install
  - npm run
  - npm test
  - yarn
  - pip install
  - pytest
  - apt-get
  - apt install
  - docker
  - kubectl
  - systemctl
  - localhost
  - dev server
---
# What the shell of this workspace can do

The shell interprets bash over the files of the workspace. It has the text tools of a Unix system (\`grep\`, \`sed\`, \`awk\`,
\`find\`, \`sort\`, \`diff\`, \`jq\` and their kind), functions, pipes and here-documents.

- It starts no processes: Python and other language runtimes, compilers, package managers, containers and services are not
  available, and nothing can listen on a port. Do not try to install them.
- JavaScript is the exception: \`node file.js\`, \`node -e\` and \`node --test\` run plain JavaScript with the files of the
  workspace, each time in an isolate of its own, without network and without packages that are not in the workspace. What
  \`npm test\` would run, look up in \`package.json\`. TypeScript and JSX are not run.
- There is also \`git\`, \`curl\`, \`tar\`, \`gzip\`, \`zip\`, \`unzip\` and \`patch\`.
- A command that runs too long is cut off, and nothing goes on in the background after a command has ended.
- What needs another runtime to be checked cannot be run here. Say so plainly, never claim that something was run or passed,
  and tell the user the command to run on their side.
- Check what can be checked by reading: follow imports with \`grep\`, validate JSON with \`jq\`, compare with \`diff\`.
`

const WRITE_MICROAGENT = `---
name: write-microagent
version: 1.0.0
inputs:
  - name: subject
    description: What the new microagent is to tell the agent
  - name: occasion
    description: When it matters - always, or the words in a message that should bring it up
---
Write a microagent for this project about the given subject.

1. Read what is there: the files in \`.bellwether/microagents\` and whatever in the project bears on the subject. If a file
   already covers it, extend that one instead.
2. Write \`.bellwether/microagents/<short-name>.md\`. For one that always holds, plain Markdown is enough. For one that is
   brought up by words, begin the file with front matter:

       ---
       name: <short-name>
       triggers:
         - <word>
       ---

   A trigger matches anywhere in a message, also inside other words: choose words that mean only this.
3. State facts and rules, each checked against the project: commands that work, where things lie, what must not be done
   and why. Leave out what any developer knows, and never put a secret in.
4. Show the finished file to the user.
`

let parsed: readonly Microagent[] | undefined

export function builtinMicroagents(): readonly Microagent[] {
  parsed ??= [GIT_HOSTS, SHELL_LIMITS, REVIEW_CHANGES, WRITE_MICROAGENT].map((text) => {
    const result = parseMicroagent(null, text)
    return must(result.ok ? result.microagent : null, `a well-formed built-in microagent: ${text.slice(0, 40)}`)
  })
  return parsed
}
