// `jq` like version 1.6. The interpreter's own version silently returns wrong results for many programs.

import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { argumentsValue, type JqOptions, readJqOptions } from './jq/command-line.ts'
import { compilerFor } from './jq/compile.ts'
import { JqInputs } from './jq/inputs.ts'
import { JsonError, parsedJson } from './jq/json-read.ts'
import { toJson, type Writing } from './jq/json-write.ts'
import { JqSyntaxError } from './jq/lexer.ts'
import { type Filter, Halt, run, Steps, TooMuch } from './jq/machine.ts'
import { JqError } from './jq/operators.ts'
import { parseProgram } from './jq/parser.ts'
import { isTrue, type JqValue } from './jq/value.ts'

const USAGE = `Usage:\tjq [OPTIONS] FILTER [FILES...]
\tjq [OPTIONS] --args FILTER [ARGUMENTS...]
\tjq [OPTIONS] --jsonargs FILTER [JSON_VALUES...]
`
/** The limit of a command's output. */
const MAX_OUTPUT_CHARS = 48 * 1024 * 1024

/** For a missing required result, and for invalid JSON. */
const EXIT_NO_VALUE = 4

/** The command cannot start: invalid options, or a missing program file. */
class Misuse extends Error {}

export async function jq(args: string[], context: Context): Promise<Result> {
  const read = readJqOptions(args)
  if (!read.ok)
    return failed(
      `${read.problem}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq\n`,
      2,
    )
  const { options } = read
  if (options.flags.has('V')) return { stdout: 'jq-1.6\n', stderr: '', exitCode: 0 }
  if (options.flags.has('h')) return { stdout: USAGE, stderr: '', exitCode: 0 }
  try {
    return await runProgram(options, context)
  } catch (error) {
    if (error instanceof Misuse) return failed(`jq: error: ${error.message}\n`, 2)
    throw error
  }
}

function failed(stderr: string, exitCode: number): Result {
  return { stdout: '', stderr, exitCode }
}

async function runProgram(options: JqOptions, context: Context): Promise<Result> {
  const program = await programOf(options, context)
  const globals = await globalsOf(options, context)
  const inputs = new JqInputs(options, context)
  const said: string[] = []
  const machine = {
    globals,
    env: context.exportedEnv ?? {},
    nextInput: () => nextInput(inputs),
    inputName: () => inputs.name,
    inputLine: () => inputs.line,
    say: (text: string) => said.push(text),
    steps: new Steps(),
  }
  let filter: Filter
  try {
    filter = compilerFor(machine).filter(parseProgram(program), null)
  } catch (error) {
    if (!(error instanceof JqSyntaxError)) throw error
    return failed(compileFailure(error.message, program), 3)
  }
  // With `-n` and without `input`, the standard input is left for the next command.
  if (!options.flags.has('n') || /\binputs?\b/.test(program)) await inputs.open()
  return new Running({ options, inputs, filter, said, steps: machine.steps, context }).all()
}

/** For a program that calls it: invalid JSON is an error that it may catch. */
function nextInput(inputs: JqInputs): { value: JqValue } | null {
  try {
    return inputs.next()
  } catch (error) {
    if (error instanceof JsonError) throw new JqError(error.message)
    throw error
  }
}

function compileFailure(message: string, program: string): string {
  const hint = message.startsWith('syntax error') ? `${message} (Unix shell quoting issues?)` : message
  return `jq: error: ${hint} at <top-level>, line 1:\n${program}\njq: 1 compile error\n`
}

/** Without one, the input is printed unchanged, because neither input nor output is a terminal. */
async function programOf({ program, programFile }: JqOptions, { fs, cwd }: Context): Promise<string> {
  if (programFile === null) return program ?? '.'
  try {
    return await fs.readFile(fs.resolvePath(cwd, programFile))
  } catch (error) {
    throw new Misuse(`Could not open ${programFile}: ${shellMessage(error)}`)
  }
}

/** The values of `--arg` and similar options, and `$ARGS`. */
async function globalsOf({ named, positional }: JqOptions, context: Context): Promise<Map<string, JqValue>> {
  const values = new Map<string, JqValue>()
  for (const one of named) if (!values.has(one.name)) values.set(one.name, await namedValue(one, context))
  const listed = positional.map(({ text, isJson }) => {
    if (!isJson) return text
    return jsonGiven(text, `Invalid JSON text passed to --jsonargs`)
  })
  const globals = new Map(values)
  globals.set('ARGS', argumentsValue(values, listed))
  return globals
}

function jsonGiven(text: string, problem: string): JqValue {
  try {
    return parsedJson(text)
  } catch (error) {
    if (!(error instanceof JqError)) throw error
    throw new Misuse(problem)
  }
}

async function namedValue({ name, value, kind }: JqOptions['named'][number], { fs, cwd }: Context): Promise<JqValue> {
  if (kind === 'text') return value
  if (kind === 'json') return jsonGiven(value, `Invalid JSON text passed to --argjson`)
  let text: string
  try {
    text = await fs.readFile(fs.resolvePath(cwd, value))
  } catch (error) {
    throw new Misuse(
      `Bad JSON in --${kind === 'raw' ? 'rawfile' : 'slurpfile'} ${name} ${value}: Could not open ${value}: ${shellMessage(error)}`,
    )
  }
  if (kind === 'raw') return text
  try {
    return JqInputs.valuesIn(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new Misuse(`Bad JSON in --slurpfile ${name} ${value}: ${error.message}`)
  }
}

type RunDeps = {
  options: JqOptions
  inputs: JqInputs
  filter: Filter
  said: string[]
  steps: Steps
  context: Context
}

/** One run of a program over all its inputs. */
class Running {
  readonly #deps: RunDeps
  readonly #out: string[] = []
  #chars = 0
  #last: JqValue | undefined
  #exitCode = 0
  #hasInput = false

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  async all(): Promise<Result> {
    const { options, inputs, said, steps, context } = this.#deps
    try {
      if (options.flags.has('n')) this.#one(null)
      else {
        for (let next = inputs.next(); next !== null; next = inputs.next()) {
          this.#one(next.value)
          // A file read gives this shell the chance to pause and stop.
          if (steps.isWorn) {
            await context.fs.exists('/')
            context.signal?.throwIfAborted()
            steps.restart()
          }
        }
      }
    } catch (error) {
      this.#ended(error)
    }
    for (const problem of inputs.problems) {
      said.push(problem)
      this.#exitCode = 2
    }
    return { stdout: this.#out.join(''), stderr: said.join(''), exitCode: this.#code() }
  }

  #one(value: JqValue): void {
    this.#hasInput = true
    const { filter, said, inputs } = this.#deps
    try {
      run(filter, null, value, (result) => this.#write(result))
      if (this.#exitCode === 5) this.#exitCode = 0
    } catch (error) {
      if (!(error instanceof JqError)) throw error
      this.#exitCode = 5
      const shown = typeof error.value === 'string' ? `: ${error.value}` : ` (not a string): ${toJson(error.value)}`
      said.push(`jq: error (at ${inputs.place})${shown}\n`)
    }
  }

  #ended(error: unknown): void {
    const { said } = this.#deps
    if (error instanceof Halt) {
      said.push(error.text)
      this.#exitCode = error.exitCode
    } else if (error instanceof JsonError) {
      said.push(
        `jq: error (at ${this.#deps.inputs.place}): ${error.message}\n`.replace(
          /^jq: error \(at [^)]*\)/,
          'parse error',
        ),
      )
      this.#exitCode = EXIT_NO_VALUE
    } else if (error instanceof TooMuch) {
      said.push(`jq: error: ${error.message}\n`)
      this.#exitCode = 5
    } else if (error instanceof RangeError) {
      said.push('jq: error: the program calls itself too deeply\n')
      this.#exitCode = 5
    } else throw error
  }

  #write(value: JqValue): void {
    const { flags, indent } = this.#deps.options
    this.#last = value
    const isRaw = flags.has('r') || flags.has('j')
    const text =
      isRaw && typeof value === 'string' && !flags.has('a') ? value : toJson(value, this.#writing(flags, indent))
    this.#chars += text.length + 1
    if (this.#chars > MAX_OUTPUT_CHARS) throw new TooMuch(`the output is longer than ${MAX_OUTPUT_CHARS} characters`)
    this.#out.push(flags.has('seq') ? '\x1e' : '', text, flags.has('j') ? '' : '\n')
  }

  #writing(flags: ReadonlySet<string>, indent: string): Writing {
    return {
      indent: flags.has('c') ? '' : indent,
      sortsKeys: flags.has('S'),
      escapes: flags.has('a'),
      colours: flags.has('C') && !flags.has('M'),
    }
  }

  #code(): number {
    if (this.#exitCode !== 0 || !this.#deps.options.flags.has('e')) return this.#exitCode
    if (this.#last === undefined) return this.#hasInput ? EXIT_NO_VALUE : 0
    return isTrue(this.#last) ? 0 : 1
  }
}
