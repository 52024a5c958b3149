import { expect, test } from 'vitest'
import { shapesOf } from '../../scripts/structure/shapes.ts'
import { filesIn, textOf } from '../support/source-tree.ts'

const LINE_LIMIT = 400
const CLASS_LINES = 250
const METHODS = 20
const FUNCTION_LINES = 40

/** Written by a tool or taken from elsewhere: nobody reads these top to bottom. */
const EXEMPT = [/^src\/env\.d\.ts$/, /\.generated\./, /^src\/market\/sample-data\//, /^test\/fixtures\//]

const shapes = filesIn('src', 'durable-objects', 'scripts', 'runner/src', 'client/src')
  .filter((path) => /\.tsx?$/.test(path) && !EXEMPT.some((pattern) => pattern.test(path)))
  .flatMap(shapesOf)

test('no source file is longer than a reader can hold', () => {
  const files = filesIn('src', 'durable-objects', 'migrations', 'scripts', 'test', 'runner', 'client').filter(
    (path) => /\.(tsx?|mjs|css|sql|html)$/.test(path) && !EXEMPT.some((pattern) => pattern.test(path)),
  )
  expect(files.length).toBeGreaterThan(40)
  const lines = (path: string) => textOf(path).replace(/\n$/, '').split('\n').length
  const tooLong = files.filter((path) => lines(path) > LINE_LIMIT)
  expect(tooLong.map((path) => `${path}: ${lines(path)} lines`)).toEqual([])
})

test('no class is larger than a reader can hold', () => {
  const classes = shapes.filter(({ kind }) => kind === 'class')
  expect(classes.length).toBeGreaterThan(400)
  const tooLarge = classes.filter(({ lines, methods }) => lines > CLASS_LINES || methods > METHODS)
  expect(
    tooLarge.map(({ path, name, lines, methods }) => `${path} ${name}: ${lines} lines, ${methods} methods`),
  ).toEqual([])
})

test('no function is longer than a screen', () => {
  const functions = shapes.filter(({ kind }) => kind === 'function')
  expect(functions.length).toBeGreaterThan(20_000)
  const long = functions.filter(({ lines }) => lines > FUNCTION_LINES)
  expect(long.map(({ path, name, lines }) => `${path} ${name}: ${lines} lines`)).toEqual([])
})
