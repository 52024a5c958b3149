// Marks every function of production code, so that a run tells which test file calls which functions.

import { relative } from 'node:path'
import type { Plugin } from 'vite'
import { functionsOf, parse, type Source } from './syntax.ts'

/** What the marks of a run mean: mark `first + n` is function `n` of the file. */
export type Marks = Map<string, { first: number; count: number }>

const MARKS_LIMIT = 60_000
const PRODUCTION = /^(src|durable-objects)\/(?!web\/).*\.ts$/

export function isProduction(path: string): boolean {
  return PRODUCTION.test(path) && !/\.d\.ts$|\.generated\.ts$|\/sample-data\//.test(path)
}

export function markFunctions(root: string, marks: Marks): Plugin {
  return {
    name: 'mark-functions',
    enforce: 'pre',
    transform(text, id) {
      const path = relative(root, id.split('?')[0] ?? id)
      if (!isProduction(path)) return null
      const source = parse(path, text)
      const first = placeOf(marks, path, functionsOf(source).length)
      return { code: marked(source, first), map: null }
    },
  }
}

function placeOf(marks: Marks, path: string, count: number): number {
  const known = marks.get(path)
  if (known) return known.first
  const first = Math.max(0, ...[...marks.values()].map((one) => one.first + one.count))
  if (first + count > MARKS_LIMIT) throw new Error(`more than ${MARKS_LIMIT} functions: raise MARKS_LIMIT`)
  marks.set(path, { first, count })
  return first
}

/** Lines stay where they are. */
function marked(source: Source, first: number): string {
  const inserts = functionsOf(source).flatMap(({ body }, index) => {
    const mark = `__marks[${first + index}]=1`
    if (body.type === 'BlockStatement') return [{ at: body.start + 1, text: `${mark};` }]
    return [
      { at: body.start, text: `(${mark},` },
      { at: body.end, text: ')' },
    ]
  })
  const parts: string[] = [`const __marks=(globalThis as any).__marks??=new Uint8Array(${MARKS_LIMIT});`]
  let from = 0
  for (const { at, text } of inserts.toSorted((a, b) => a.at - b.at)) {
    parts.push(source.text.slice(from, at), text)
    from = at
  }
  return [...parts, source.text.slice(from)].join('')
}
