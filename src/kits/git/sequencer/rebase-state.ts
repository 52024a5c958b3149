// The state of a running rebase: the files of `.git/rebase-merge`.

import type { MergeStyle } from '../merge-text.ts'
import type { Signature } from '../objects.ts'
import type { Repository } from '../repository.ts'
import { StateFolder } from './state-files.ts'
import { formatStep, formatSteps, parseTodo, type Step } from './todo.ts'

export interface RebaseStart {
  /** `refs/heads/topic`, or `detached HEAD`. */
  headName: string
  onto: string
  original: string
  steps: readonly Step[]
  /** Steps left out because they are already in place. */
  done: readonly Step[]
  style: MergeStyle
  quiet: boolean
  /** A stash of uncommitted changes, restored at the end. */
  autostash: string | null
  /** Whether the first commit gets no parent. */
  isFromRoot: boolean
}

export class RebaseState extends StateFolder {
  readonly #owner: Repository

  constructor(repo: Repository) {
    super(repo, 'rebase-merge')
    this.#owner = repo
  }

  async begin({ headName, onto, original, steps, done, style, quiet, ...more }: RebaseStart): Promise<void> {
    await this.write('interactive', '')
    await this.write('head-name', `${headName}\n`)
    await this.write('onto', `${onto}\n`)
    await this.write('orig-head', `${original}\n`)
    await this.write('git-rebase-todo', formatSteps(steps))
    await this.write('done', formatSteps(done))
    await this.write('msgnum', `${done.length}\n`)
    await this.write('end', `${steps.length + done.length}\n`)
    await this.write('drop_redundant_commits', '')
    await this.write('no-reschedule-failed-exec', '')
    if (style.favour) await this.write('strategy_opts', ` '--${style.favour}'\n`)
    if (quiet) await this.write('quiet', '\n')
    if (more.autostash !== null) await this.write('autostash', `${more.autostash}\n`)
    if (more.isFromRoot) await this.write('squash-onto', `${onto}\n`)
  }

  async steps(): Promise<Step[]> {
    // The rest may start with a `squash`, because its target commit is done.
    return parseTodo(this.#owner, (await this.text('git-rebase-todo')) ?? '', { isRest: true })
  }

  async done(): Promise<Step[]> {
    return parseTodo(this.#owner, (await this.text('done')) ?? '', { isRest: true })
  }

  async saveSteps(steps: readonly Step[]): Promise<void> {
    await this.write('git-rebase-todo', formatSteps(steps))
  }

  /** The step has started; the rest are the steps after it. */
  async advance(step: Step, rest: readonly Step[]): Promise<void> {
    await this.append('done', formatStep(step))
    await this.saveSteps(rest)
    await this.write('msgnum', `${Number((await this.read('msgnum')) ?? 0) + 1}\n`)
  }

  /** The step must be repeated. */
  async takeBack(step: Step, rest: readonly Step[]): Promise<void> {
    const done = await this.done()
    await this.write('done', formatSteps(done.slice(0, -1)))
    await this.saveSteps([step, ...rest])
    await this.write('msgnum', `${Number((await this.read('msgnum')) ?? 1) - 1}\n`)
  }

  /** The parents of a new commit on top of that one. */
  async parentsOn(head: string): Promise<string[]> {
    return (await this.read('squash-onto')) === head ? [] : [head]
  }

  async progress(): Promise<string> {
    return `(${await this.read('msgnum')}/${await this.read('end')})`
  }

  async style(): Promise<MergeStyle> {
    const favour = /'--(ours|theirs)'/.exec((await this.read('strategy_opts')) ?? '')?.[1]
    return favour === 'ours' || favour === 'theirs' ? { favour } : {}
  }

  async saveAuthor({ name, email, seconds, zone }: Signature): Promise<void> {
    const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
    await this.write(
      'author-script',
      `GIT_AUTHOR_NAME=${quoted(name)}\nGIT_AUTHOR_EMAIL=${quoted(email)}\nGIT_AUTHOR_DATE=${quoted(`@${seconds} ${zone}`)}\n`,
    )
  }

  /** Null if none is stored. */
  async author(): Promise<Signature | null> {
    const text = await this.text('author-script')
    const value = (name: string) =>
      new RegExp(`^GIT_AUTHOR_${name}='(.*)'$`, 'm').exec(text ?? '')?.[1]?.replaceAll("'\\''", "'")
    const [name, email, date] = [value('NAME'), value('EMAIL'), /^@(\d+) ([+-]\d{4})$/.exec(value('DATE') ?? '')]
    if (name === undefined || email === undefined || !date) return null
    return { name, email, seconds: Number(date[1]), zone: date[2] ?? '+0000' }
  }
}
