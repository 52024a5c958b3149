// The syntax tree of a jq program.

/** With a question mark directly after it, only errors of this step are ignored. */
type Access = { target: Node; isOptional?: true }

export type Node =
  | { kind: 'identity' }
  | { kind: 'recurse' }
  | { kind: 'literal'; value: null | boolean | number | string }
  | { kind: 'text'; format: string; parts: (string | Node)[] }
  | { kind: 'format'; name: string }
  | (Access & { kind: 'index'; key: Node })
  | (Access & { kind: 'slice'; from: Node | null; to: Node | null })
  | (Access & { kind: 'iterate' })
  | { kind: 'try'; body: Node; handler: Node | null }
  | { kind: 'list'; body: Node | null }
  | { kind: 'object'; entries: { key: Node; value: Node }[] }
  | { kind: 'negate'; body: Node }
  | Pair<'pipe'>
  | Pair<'comma'>
  | Pair<'and'>
  | Pair<'or'>
  | Pair<'alternative'>
  | Operation<'binary'>
  | Operation<'update'>
  | { kind: 'if'; condition: Node; yes: Node; no: Node }
  | { kind: 'bind'; source: Node; patterns: Pattern[]; body: Node }
  | { kind: 'reduce'; source: Node; pattern: Pattern; start: Node; update: Node }
  | { kind: 'foreach'; source: Node; pattern: Pattern; start: Node; update: Node; extract: Node | null }
  | { kind: 'define'; definition: Definition; body: Node }
  | { kind: 'call'; name: string; args: Node[] }
  | { kind: 'variable'; name: string }
  | { kind: 'label'; name: string; body: Node }
  | { kind: 'break'; name: string }

/** Destructures a value into variables. */
export type Pattern =
  | { kind: 'name'; name: string }
  | { kind: 'items'; items: Pattern[] }
  | { kind: 'entries'; entries: { key: Node; variable: string | null; value: Pattern | null }[] }

export interface Definition {
  name: string
  params: { name: string; isValue: boolean }[]
  body: Node
}

type Pair<Kind extends string> = { kind: Kind; left: Node; right: Node }
type Operation<Kind extends string> = Pair<Kind> & { operator: string }
