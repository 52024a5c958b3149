// The syntax tree of an awk program.

export type Target =
  | { kind: 'name'; name: string; line: number }
  | { kind: 'element'; array: string; index: Expression[]; line: number }
  | { kind: 'field'; of: Expression }

export type Binary = '+' | '-' | '*' | '/' | '%' | '^' | '<' | '<=' | '==' | '!=' | '>' | '>=' | 'concat'

export type Expression =
  | Target
  | { kind: 'number'; value: number }
  | { kind: 'string'; value: string }
  | { kind: 'regex'; source: string }
  | { kind: 'assign'; operator: Binary | null; target: Target; value: Expression }
  | { kind: 'step'; target: Target; by: 1 | -1; isPrefix: boolean }
  | { kind: 'unary'; operator: '!' | '-' | '+'; of: Expression }
  | { kind: 'binary'; operator: Binary; left: Expression; right: Expression }
  | { kind: 'match'; isNegated: boolean; left: Expression; right: Expression }
  | { kind: 'both' | 'either'; left: Expression; right: Expression }
  | { kind: 'choice'; condition: Expression; yes: Expression; no: Expression }
  | { kind: 'in'; index: Expression[]; array: string; line: number }
  | { kind: 'call'; name: string; args: Expression[]; line: number }
  | { kind: 'builtin'; name: string; args: Expression[]; line: number }
  | { kind: 'getline'; source: 'input' | 'file' | 'command'; from: Expression | null; target: Target | null }
  /** `(a, b)`, which only `print` and `in` accept. */
  | { kind: 'list'; items: Expression[] }

export type Redirection = { to: '>' | '>>' | '|'; name: Expression }

export type Statement =
  | { kind: 'block'; body: Statement[] }
  | { kind: 'expression'; value: Expression }
  | { kind: 'print'; args: Expression[]; redirection: Redirection | null }
  | { kind: 'printf'; args: Expression[]; redirection: Redirection | null }
  | { kind: 'if'; condition: Expression; yes: Statement; no: Statement | null }
  | { kind: 'while'; condition: Expression; body: Statement }
  | { kind: 'do'; body: Statement; condition: Expression }
  | { kind: 'for'; start: Statement | null; condition: Expression | null; each: Statement | null; body: Statement }
  | { kind: 'for-in'; target: Target; array: string; body: Statement; line: number }
  | { kind: 'delete'; array: string; index: Expression[] | null; line: number }
  | { kind: 'break' | 'continue' | 'next' | 'nextfile' }
  | { kind: 'exit' | 'return'; value: Expression | null }

export interface Rule {
  when:
    | { kind: 'begin' | 'end' | 'always' }
    | { kind: 'pattern'; pattern: Expression }
    | { kind: 'range'; from: Expression; to: Expression }
  /** Null means `{ print }`. */
  body: Statement | null
}

export interface FunctionDefinition {
  name: string
  parameters: string[]
  body: Statement
  line: number
}

export interface Program {
  rules: Rule[]
  functions: Map<string, FunctionDefinition>
  /** The line of its end. */
  lastLine: number
}

/** An error that ends a program: in its syntax, or an operation that is not allowed. */
export class AwkError extends Error {
  override readonly name = 'AwkError'
}

export function mistake(line: number, problem: string): AwkError {
  return new AwkError(`line ${line}: ${problem}`)
}
