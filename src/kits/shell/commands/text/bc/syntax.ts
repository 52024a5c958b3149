// Programs for `bc` as trees.

export type Assignable =
  | { kind: 'variable'; name: string }
  | { kind: 'element'; name: string; index: Expression }
  | { kind: 'special'; name: string }

export type Expression =
  | { kind: 'number'; text: string }
  | Assignable
  | { kind: 'call'; name: string; args: (Expression | { kind: 'array'; name: string })[] }
  | { kind: 'negate' | 'not'; operand: Expression }
  | { kind: 'binary'; operator: string; left: Expression; right: Expression }
  | { kind: 'assign'; operator: string; place: Assignable; value: Expression }
  | { kind: 'step'; place: Assignable; by: 1n | -1n; isPrefix: boolean }

export type Statement =
  | { kind: 'expression'; expression: Expression; isShown: boolean }
  | { kind: 'string'; text: string }
  | { kind: 'print'; items: (Expression | string)[] }
  | { kind: 'block'; body: Statement[] }
  | { kind: 'if'; test: Expression; then: Statement; otherwise: Statement | null }
  | { kind: 'loop'; start: Expression | null; test: Expression | null; step: Expression | null; body: Statement }
  | { kind: 'break' | 'continue' | 'halt' | 'nothing' }
  | { kind: 'return'; value: Expression | null }
  | { kind: 'define'; name: string; definition: Definition }

export interface Definition {
  parameters: Local[]
  locals: Local[]
  body: Statement[]
}

export interface Local {
  name: string
  isArray: boolean
}

export class ParseError extends Error {
  readonly line: number

  constructor(line: number, message = 'syntax error') {
    super(message)
    this.line = line
  }
}
