// The fields of `--format` in lists of refs: `%(refname:short)`, `%(objectname)`, `%(if)…%(then)…%(end)` and others.

import { showDate, styleIn } from './dates.ts'
import { fatal, GitFailure } from './failure.ts'
import { aheadBehind } from './history.ts'
import { bodyOf, slug, subjectOf } from './message-parts.ts'
import { type GitObject, parseCommit, parseTag, type Signature } from './objects.ts'
import { checkField } from './ref-fields.ts'
import type { Repository } from './repository.ts'
import { abbreviate, upstreamOf } from './revisions.ts'

export interface ListedRef {
  ref: string
  oid: string
}

interface Align {
  width: number
  position: string
}

/** `30`, `right,30`, `width=30,position=middle`. */
function alignment(text: string): Align {
  const found: Align = { width: -1, position: 'left' }
  for (const part of text.split(',')) {
    const word = part.replace(/^(?:width|position)=/, '')
    if (/^\d+$/.test(word)) found.width = Number(word)
    else if (['left', 'middle', 'right'].includes(word)) found.position = word
    else throw fatal(`unrecognized %(align) argument: ${part}`)
  }
  if (found.width < 0) throw fatal('positive width expected with the %(align) atom')
  return found
}

function aligned(text: string, { width, position }: Align): string {
  const free = Math.max(0, width - [...text].length)
  const left = position === 'left' ? 0 : position === 'right' ? free : Math.floor(free / 2)
  return ' '.repeat(left) + text + ' '.repeat(free - left)
}

type Objects = { own: GitObject; peeled: { oid: string; object: GitObject } | null }

type Env = Readonly<Record<string, string>>

/** The content between an opening keyword of a format and its end, as far as it is parsed. */
type Frame = {
  isElse?: boolean
  text: string
  holds: boolean | null
  compared?: { not: boolean; to: string }
  align?: Align
}

function openedBy(field: string): Frame | null {
  if (/^align:/.test(field)) return { text: '', holds: true, align: alignment(field.slice('align:'.length)) }
  if (!/^if(:|$)/.test(field)) return null
  const condition = /^if:(not)?equals=(.*)$/.exec(field)
  if (field !== 'if' && !condition) throw fatal(`unrecognized %(if) argument: ${field.slice(3)}`)
  const compared = condition && { not: condition[1] !== undefined, to: condition[2] ?? '' }
  return { text: '', holds: null, ...(compared && { compared }) }
}

function literal(part: string): string {
  if (part === '%%') return '%'
  return /^%[0-9a-fA-F]{2}$/.test(part) ? String.fromCharCode(Number.parseInt(part.slice(1), 16)) : part
}

export class RefFormat {
  readonly #repo: Repository
  readonly #env: Env
  readonly #parts: string[]

  constructor({ repo, env }: { repo: Repository; env: Env }, format: string) {
    this.#repo = repo
    this.#env = env
    const open = format.lastIndexOf('%(')
    if (open >= 0 && !format.includes(')', open))
      throw new GitFailure(`error: malformed format string ${format.slice(open)}`, 129)
    this.#parts = format.split(/(%\([^)]*\)|%%|%[0-9a-fA-F]{2})/)
    for (const part of this.#parts) if (part.startsWith('%(')) checkField(part.slice(2, -1))
  }

  async fill(row: ListedRef): Promise<string> {
    const open: Frame[] = [{ text: '', holds: true }]
    const add = (text: string) => {
      const top = open.at(-1)
      if (top) top.text += text
    }
    for (const part of this.#parts) {
      const field = /^%\((.*)\)$/.exec(part)?.[1]
      const opened = field === undefined ? null : openedBy(field)
      if (field === undefined) add(literal(part))
      else if (opened) open.push(opened)
      else if (field === 'end' && open.at(-1)?.align) {
        const { text = '', align } = open.pop() ?? {}
        add(align ? aligned(text, align) : text)
      } else if (field === 'then') {
        const top = open.at(-1)
        if (!top || open.length < 2) throw fatal('format: %(then) atom used without a %(if) atom')
        top.holds = top.compared ? (top.text === top.compared.to) !== top.compared.not : top.text.trim() !== ''
        top.text = ''
        open.push({ text: '', holds: top.holds })
      } else if (field === 'else' || field === 'end') {
        const branch = open.pop()
        const condition = open.at(-1)
        if (!branch || !condition || open.length < 2) {
          throw fatal(`format: %(${field}) atom used without ${field === 'end' ? 'corresponding' : 'a %(if)'} atom`)
        }
        if (branch.holds) condition.text += branch.text
        if (field === 'else' && branch.isElse) throw fatal('format: %(else) atom used more than once')
        if (field === 'else') open.push({ text: '', holds: !condition.holds, isElse: true })
        else {
          open.pop()
          add(condition.text)
        }
      } else {
        add(await this.#field(field, row))
      }
    }
    if (open.length > 1) throw fatal('format: %(end) atom missing')
    return open[0]?.text ?? ''
  }

  async #field(field: string, row: ListedRef): Promise<string> {
    const isPeeled = field.startsWith('*')
    const [name = '', ...rest] = (isPeeled ? field.slice(1) : field).split(':')
    const argument = rest.join(':')
    if (isPeeled && name === 'refname') return `${await this.#ofRef(name, argument, row)}^{}`
    if (!isPeeled) {
      const own = await this.#ofRef(name, argument, row)
      if (own !== null) return own
    }
    const { own, peeled } = await this.#objects(row.oid)
    const oid = isPeeled ? peeled?.oid : row.oid
    const object = isPeeled ? peeled?.object : own
    if (!object || oid === undefined) return ''
    return this.#ofObject({ name, argument, field }, { oid, object })
  }

  async #ofRef(name: string, argument: string, { ref }: ListedRef): Promise<string | null> {
    const head = await this.#repo.refs.head()
    switch (name) {
      case 'refname':
        return shortened(ref, argument)
      case 'color':
        // Nobody here looks at colours, and none are asked for.
        return ''
      case 'HEAD':
        return head.ref === ref ? '*' : ' '
      case 'symref': {
        const target = await this.#repo.refs.symbolicTarget(ref)
        return target === null ? '' : shortened(target, argument)
      }
      case 'upstream':
      case 'push':
        return this.#upstream(ref, argument)
      case 'worktreepath':
        return head.ref === ref ? this.#repo.root : ''
      default:
        return null
    }
  }

  async #upstream(ref: string, argument: string): Promise<string> {
    const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
    const upstream = branch === null ? null : await upstreamOf(this.#repo, branch)
    if (!upstream) return ''
    if (argument === 'remotename') return upstream.remote
    if (!argument.startsWith('track')) return shortened(upstream.ref, argument)
    const [own, other] = [await this.#repo.refs.resolve(ref), await this.#repo.refs.resolve(upstream.ref)]
    const isBare = argument.includes('nobracket')
    if (argument.startsWith('trackshort')) {
      if (own === null || other === null) return ''
      const { ahead, behind } = await aheadBehind(this.#repo, own, other)
      return ahead && behind ? '<>' : ahead ? '>' : behind ? '<' : '='
    }
    const said = other === null || own === null ? 'gone' : distanceText(await aheadBehind(this.#repo, own, other))
    return said === '' ? '' : isBare ? said : `[${said}]`
  }

  async #ofObject(
    { name, argument, field }: { name: string; argument: string; field: string },
    { oid, object }: { oid: string; object: GitObject },
  ): Promise<string> {
    const { type, bytes } = object
    if (name === 'objectname') return this.#shownId(oid, argument)
    if (name === 'objecttype') return type
    if (name === 'objectsize') return String(bytes.byteLength)
    const commit = type === 'commit' ? parseCommit(bytes) : null
    const tag = type === 'tag' ? parseTag(bytes) : null
    if (name === 'tree') return commit ? this.#shownId(commit.tree, argument) : ''
    if (name === 'parent') {
      const parents = (commit?.parents ?? []).map((parent) => this.#shownId(parent, argument))
      return (await Promise.all(parents)).join(' ')
    }
    if (name === 'numparent') return commit ? String(commit.parents.length) : ''
    if (name === 'tag') return tag?.name ?? ''
    if (name === 'object') return tag?.object ?? ''
    if (name === 'type') return tag?.type ?? ''
    const person = /^(author|committer|tagger|creator)(name|email|date)?$/.exec(name)
    if (person) {
      const [, role = '', part = ''] = person
      const by = role === 'tagger' ? tag?.tagger : role === 'creator' ? (tag?.tagger ?? commit?.committer) : null
      const found = by ?? (commit && (role === 'author' || role === 'committer') ? commit[role] : null)
      if (!found) return ''
      if (part === 'date') return showDate(found, styleIn(argument === '' ? 'default' : argument, this.#env))
      return part === 'name' && argument !== '' ? '' : personField(found, part, argument)
    }
    const message = commit?.message ?? tag?.message ?? null
    if (['subject', 'body', 'contents'].includes(name))
      return message === null ? '' : messageField(name, argument, message)
    throw fatal(`unknown field name: ${field}`)
  }

  async #shownId(oid: string, argument: string): Promise<string> {
    if (argument === '') return oid
    const [, length] = argument.split('=')
    return abbreviate(this.#repo, oid, length === undefined ? undefined : Math.max(4, Number(length)))
  }

  async #objects(oid: string): Promise<Objects> {
    const own = await this.#repo.objects.read(oid)
    if (own.type !== 'tag') return { own, peeled: null }
    const target = parseTag(own.bytes).object
    return { own, peeled: { oid: target, object: await this.#repo.objects.read(target) } }
  }
}

function distanceText({ ahead, behind }: { ahead: number; behind: number }): string {
  return [...(ahead ? [`ahead ${ahead}`] : []), ...(behind ? [`behind ${behind}`] : [])].join(', ')
}

function shortened(ref: string, how: string): string {
  if (how === '') return ref
  if (how === 'short') return ref.replace(/^refs\/(heads|tags|remotes)\//, '').replace(/^refs\//, '')
  const strip = /^(l|r)?strip=(-?\d+)$/.exec(how)
  if (!strip) throw fatal(`unrecognized %(refname) argument: ${how}`)
  const parts = ref.split('/')
  const count = Number(strip[2])
  if (strip[1] === 'r') return (count < 0 ? parts.slice(0, -count) : parts.slice(0, parts.length - count)).join('/')
  return (count < 0 ? parts.slice(count) : parts.slice(count)).join('/')
}

function personField(by: Signature, part: string, argument: string): string {
  if (part === 'name') return by.name
  if (part === 'email') {
    if (argument === 'trim') return by.email
    return argument === 'localpart' ? (by.email.split('@')[0] ?? '') : `<${by.email}>`
  }
  return `${by.name} <${by.email}> ${by.seconds} ${by.zone}`
}

function messageField(name: string, argument: string, message: string): string {
  if (name === 'subject') return argument === 'sanitize' ? slug(subjectOf(message)) : subjectOf(message)
  if (name === 'body' || argument === 'body') return bodyOf(message)
  if (argument === 'subject') return subjectOf(message)
  const lines = /^lines=(\d+)$/.exec(argument)
  if (lines) return message.replace(/\n$/, '').split('\n').slice(0, Number(lines[1])).join('\n    ')
  if (argument === '') return message
  throw fatal(`unrecognized %(contents) argument: ${argument}`)
}
