// Prints how the tree is built, to be compared before and after a change of its plan: how large it is, what imports itself by
// way of others, how many entries a folder has and how many layers they make, and the largest classes and functions.
//
//   npm run structure [-- folder …]      the folders whose entries are counted
//
// An entry of a folder is a file or a folder directly in it. An import leads from one entry to another, types
// counted. A layer holds the entries that import from the layers below alone; entries of one circle share a layer.

import { filesIn } from '../test/support/source-tree.ts'
import { circlesOf, importGraph, layersOf, reachOf } from './structure/graph.ts'
import { codeLines, type Shape, shapesOf } from './structure/shapes.ts'
import { lostHops, WALKS } from './structure/walks.ts'

const FOLDERS = ['durable-objects/conversation', 'durable-objects/task-queue', 'src', 'src/agent', 'src/analysis']
const KITS = /^src\/(workspace|kits)\//
const ENTRIES = [
  'src/routes/analysis/analyze.ts',
  'src/analysis/run.ts',
  'durable-objects/conversation/conversation.ts',
]
const MAX_FUNCTION_LINES = 40
const MAX_CLASS_LINES = 250
const MAX_METHODS = 20

const files = filesIn('src', 'durable-objects').filter(
  (path) => /\.tsx?$/.test(path) && !/(\.d|\.generated)\.tsx?$/.test(path),
)
const asked = process.argv.slice(2)
const empty = asked.find((folder) => !files.some((path) => path.startsWith(`${folder}/`)))
if (empty !== undefined) {
  console.error(`There is no code in a folder ${empty}.`)
  process.exit(1)
}

const graph = importGraph(files, { types: true })
const loading = importGraph(files, { types: false })
const shapes = files.flatMap(shapesOf)

printSize()
printCircles()
for (const folder of asked.length > 0 ? asked : FOLDERS) printFolder(folder)
for (const entry of ENTRIES.filter((path) => graph.has(path))) {
  console.log(`${entry} loads ${reachOf(loading, entry).size} files`)
}
printWalks()
printShapes()

function printSize(): void {
  const lines = files.reduce((sum, path) => sum + codeLines(path), 0)
  const inSrc = files.filter((path) => path.startsWith('src/') && !KITS.test(path))
  console.log(`${files.length} files, ${lines} lines of code; src without kits: ${inSrc.length} files`)
}

function printCircles(): void {
  const circles = circlesOf(graph)
  console.log(`${circles.length} circles, types counted`)
  for (const circle of circles) console.log(`  ${circle.join(' ')}`)
}

function printFolder(folder: string): void {
  const { entries, imports, layers } = layersOf(graph, folder)
  console.log(`${folder}: ${entries} entries, ${imports} imports, ${layers} layers`)
}

function printWalks(): void {
  for (const [name, walk] of Object.entries(WALKS)) {
    const lost = lostHops(walk).map(({ file, name: hop }) => `${file} has no ${hop}`)
    console.log(`${name}: ${walk.length - 1} hops${lost.length === 0 ? '' : `; ${lost.join(', ')}`}`)
  }
}

function printShapes(): void {
  const classes = shapes.filter(({ kind }) => kind === 'class')
  const functions = shapes.filter(({ kind }) => kind === 'function')
  const large = classes.filter(({ lines, methods }) => lines > MAX_CLASS_LINES || methods > MAX_METHODS)
  const long = functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES)
  console.log(
    `${large.length} of ${classes.length} classes have over ${MAX_METHODS} methods or ${MAX_CLASS_LINES} lines`,
  )
  for (const one of byLines(large)) console.log(`  ${words(one)}, ${one.methods} methods`)
  console.log(`${long.length} of ${functions.length} functions are over ${MAX_FUNCTION_LINES} lines`)
  for (const one of byLines(long)) console.log(`  ${words(one)}`)
}

function byLines(found: readonly Shape[]): Shape[] {
  return found.toSorted((a, b) => b.lines - a.lines)
}

function words({ path, name, lines }: Shape): string {
  return `${path} ${name}: ${lines} lines`
}
