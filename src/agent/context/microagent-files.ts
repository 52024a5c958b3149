// Where the microagents of a conversation come from. Sources later in the order win on equal names: the built-in ones,
// instruction files of other formats, the directory that existing repositories have, and Bellwether's own.

import { log } from '../../lib/log.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { staysInWorkspace } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import { builtinMicroagents } from '../builtin-microagents.ts'
import {
  type Microagent,
  OWN_DIRECTORY,
  parseMicroagent,
  plainMicroagent,
  REFERENCE_DIRECTORY,
} from '../microagents.ts'

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

/** A file that was left out, or a part of it, and why. */
export type Remark = { path: string; reason: string }
export type MicroagentSet = { microagents: Microagent[]; remarks: Remark[] }

/** The microagents of a conversation, with a line in the log about what was left out. */
export async function loadMicroagents(fs: FileSystem, roots: readonly string[]): Promise<Microagent[]> {
  const { microagents, remarks } = await readMicroagents(fs, roots)
  if (remarks.length > 0) log.warn('microagents.left_out', { remarks })
  return microagents
}

/**
 * Reads them all; a bad file costs only itself. `roots` are the workspace and, when there is one, the repository in it,
 * which is the project then: an instruction file is looked for from the first root to the last, the rest in the last.
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

/** The paths below the folder, without `.md`, of all Markdown files that are no README, in a fixed order. */
function markdownFiles(fs: FileSystem, folder: string, remarks: Remark[]): string[] {
  const names: string[] = []
  const walk = (below: string, depth: number): void => {
    if (depth > MAX_DEPTH) return void remarks.push({ path: `${folder}/${below}`, reason: 'Too deep' })
    for (const { name, kind } of fs.list(`${folder}/${below}`)) {
      // Links to directories are not followed: they could lead round in a circle.
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
