import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { readStocks } from '../api.ts'
import type { StockReading } from '../wire.ts'

type Props = { readings: Readings; language: string }

/** How each entry was read, and a question for each unclear one. */
export function ReadingList({ readings: { items, choices, choose, refusals }, language }: Props) {
  const say = readingTexts(language)
  const open = items.filter((item) => isOpen(item, choices)).length
  if (items.length === 0) return null
  return (
    <section class="readings" lang={language === '' ? undefined : language} aria-label={say.title}>
      <p class="visually-hidden" role="status">
        {open === 0 ? '' : say.open(open)}
      </p>
      <ul>
        {items.map((item, place) => (
          <li key={`${place} ${item.input}`}>
            {item.candidates.length > 0 ? (
              <Question
                item={item}
                say={say}
                name={`reading-${place}`}
                chosen={choices.get(item.input)}
                onChoose={(code) => choose(item.input, code)}
              />
            ) : (
              <Plain item={item} say={say} refusal={refusals.get(item.input)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

type PlainProps = { item: StockReading; say: ReadingTexts; refusal: Refusal | undefined }

function Plain({ item, say, refusal }: PlainProps) {
  if (refusal !== undefined) return <p class="problem">{refusal.message}</p>
  const { input, kind, stock_code: code, stock_name: name, market_label: market, reason } = item
  if (kind === 'unknown') {
    const why = say.reasons[reason ?? '']
    return <p class="problem">{why === undefined ? say.unknown(input) : `${input}: ${why}`}</p>
  }
  if (name === null) return <p>{item.market === 'us' ? say.ticker(code ?? input) : `${code} (${market})`}</p>
  return (
    <p>
      {kind === 'reading' && <span class="as-typed">{`${input} → `}</span>}
      <strong>{name}</strong> <span class="code">{code}</span> <span class="market">{market}</span>
    </p>
  )
}

type QuestionProps = {
  item: StockReading
  say: ReadingTexts
  name: string
  chosen: string | null | undefined
  onChoose: (code: string | null) => void
}

function Question({ item: { input, stock_code: own, candidates }, say, name, chosen, onChoose }: QuestionProps) {
  const taken = chosen === undefined ? own : chosen
  return (
    <fieldset class="question">
      <legend>{own === null ? say.question(input) : say.orElse(own)}</legend>
      {own !== null && (
        <Answer name={name} checked={taken === own} onPick={() => onChoose(own)}>
          {say.keep(own)}
        </Answer>
      )}
      {candidates.map(({ stock_code: code, stock_name: title, market_label: market }) => (
        <Answer key={code} name={name} checked={taken === code} onPick={() => onChoose(code)}>
          <strong>{title}</strong> <span class="code">{code}</span> <span class="market">{market}</span>
        </Answer>
      ))}
      <Answer name={name} checked={chosen === null} onPick={() => onChoose(null)}>
        {say.leaveOut}
      </Answer>
    </fieldset>
  )
}

type AnswerProps = { name: string; checked: boolean; onPick: () => void; children: ComponentChildren }

function Answer({ name, checked, onPick, children }: AnswerProps) {
  return (
    <label class="answer">
      <input type="radio" name={name} checked={checked} onChange={onPick} />
      <span>{children}</span>
    </label>
  )
}

// The form's texts about how entries are read, in the language of the requested report, because the names next to them
// are in that language.

type ReadingTexts = {
  /** The heading of all entries. */
  title: string
  ticker: (code: string) => string
  question: (typed: string) => string
  /** The heading of letters that are sent as a ticker because they are in no list. */
  orElse: (code: string) => string
  keep: (code: string) => string
  leaveOut: string
  unknown: (typed: string) => string
  reasons: Record<string, string>
  open: (count: number) => string
}

const EN: ReadingTexts = {
  title: 'Read as',
  ticker: (code) => `${code}: a US ticker that is not in our list`,
  question: (typed) => `Which stock do you mean by “${typed}”?`,
  orElse: (code) => `“${code}” is sent as a US ticker. Or do you mean:`,
  keep: (code) => `${code}, a US ticker that is not in our list`,
  leaveOut: 'None of these: leave it out',
  unknown: (typed) => `“${typed}” is not known`,
  reasons: {
    no_share: 'that number is no stock, fund or index: bonds and repurchases have such numbers',
    wrong_exchange: 'the number belongs to another exchange',
    too_long: 'it is too long',
  },
  open: (count) => (count === 1 ? 'One entry needs your answer.' : `${count} entries need your answer.`),
}

const ZH: ReadingTexts = {
  title: '识别结果',
  ticker: (code) => `${code}：美股代码，名单中没有`,
  question: (typed) => `“${typed}”指的是哪一只？`,
  orElse: (code) => `“${code}”将作为美股代码提交。或者您指的是：`,
  keep: (code) => `${code}，美股代码，名单中没有`,
  leaveOut: '都不是：去掉这一项',
  unknown: (typed) => `未找到“${typed}”`,
  reasons: {
    no_share: '该号码不是股票、基金或指数，而属于债券、回购等品种',
    wrong_exchange: '该号码属于另一家交易所',
    too_long: '内容过长',
  },
  open: (count) => `有 ${count} 项需要您确认。`,
}

const KO: ReadingTexts = {
  title: '인식 결과',
  ticker: (code) => `${code}: 목록에 없는 미국 종목 코드`,
  question: (typed) => `“${typed}”은(는) 어떤 종목입니까?`,
  orElse: (code) => `“${code}”은(는) 미국 종목 코드로 보냅니다. 또는 다음 종목입니까?`,
  keep: (code) => `${code}, 목록에 없는 미국 종목 코드`,
  leaveOut: '해당 없음: 제외',
  unknown: (typed) => `“${typed}”을(를) 찾을 수 없습니다`,
  reasons: {
    no_share: '주식, 펀드, 지수의 번호가 아닙니다(채권이나 환매조건부 거래의 번호)',
    wrong_exchange: '다른 거래소의 번호입니다',
    too_long: '너무 깁니다',
  },
  open: (count) => `확인이 필요한 항목 ${count}개.`,
}

const BOOK: Record<string, ReadingTexts> = { en: EN, zh: ZH, ko: KO }

/** The texts of a language, or the English ones if there are none. */
const readingTexts = (language: string): ReadingTexts => BOOK[language] ?? EN

// How the service reads the entries of the form. It is requested when the user stops typing, and again before the form
// is submitted, so that no unread entry is sent.

const PAUSE_MS = 300

/** The choice for an unclear entry: a code, or null to leave the entry out. */
type Choices = ReadonlyMap<string, string | null>

/** Why the service did not accept an entry, and its candidates. */
export type Refusal = { input: string; message: string; candidates: StockReading['candidates'] }

type InputReadings = { asked: string; items: StockReading[] }

export type Readings = {
  items: StockReading[]
  choices: Choices
  choose: (input: string, code: string | null) => void
  /** The readings of the current entries. */
  ask: () => Promise<StockReading[]>
  refusals: ReadonlyMap<string, Refusal>
  /** Entries that the service did not accept become questions. */
  refuse: (refused: readonly Refusal[]) => void
}

/** The readings of the entries, in the language; empty until the user stops typing. */
export function useReadings(entries: string[], language: string): Readings {
  const [known, setKnown] = useState<InputReadings>({ asked: '', items: [] })
  const [choices, setChoices] = useState<Choices>(new Map())
  const [refusals, setRefusals] = useState<ReadonlyMap<string, Refusal>>(new Map())
  const asked = JSON.stringify([language, entries])
  const newest = useRef(asked)
  newest.current = asked
  const ask = async (): Promise<StockReading[]> => {
    if (known.asked === asked) return known.items.map((item) => refusedOr(item, refusals))
    const items = await readAll(entries, language)
    // An answer for entries that have changed since is dropped.
    if (newest.current === asked) setKnown({ asked, items })
    return items.map((item) => refusedOr(item, refusals))
  }
  useEffect(() => {
    if (entries.length === 0) return
    // If reading fails now, it is repeated when the form is submitted, and an error is shown then.
    const timer = setTimeout(() => void ask().catch(() => {}), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [asked])
  const choose = (input: string, code: string | null) => setChoices(new Map(choices).set(input, code))
  const refuse = (refused: readonly Refusal[]) => setRefusals(new Map(refused.map((one) => [one.input, one])))
  const items = entries.length > 0 && known.asked === asked ? known.items : []
  return { items: items.map((item) => refusedOr(item, refusals)), choices, choose, ask, refusals, refuse }
}

/** Longer than any code or name, and than the service's limit. */
const MOST_CHARACTERS = 200

/** An entry that is too long for a stock is unknown, and does not prevent the reading of the others. */
async function readAll(all: string[], language: string): Promise<StockReading[]> {
  const entries = all.filter((entry) => entry.length <= MOST_CHARACTERS)
  const about = language === '' ? { entries } : { entries, language }
  const { items } = entries.length === 0 ? { items: [] } : await readStocks(about)
  const tooLong = all.filter((entry) => entry.length > MOST_CHARACTERS)
  return [...items, ...tooLong.map((input) => ({ ...NOT_KNOWN, input }))]
}

const NOT_KNOWN = {
  ...{ kind: 'unknown', stock_code: null, stock_name: null, market: null, market_label: null, reason: null },
  candidates: [],
} satisfies Omit<StockReading, 'input'>

/** A refused entry becomes a question, or unknown if it has no candidates. */
function refusedOr(item: StockReading, refusals: ReadonlyMap<string, Refusal>): StockReading {
  const refusal = refusals.get(item.input)
  if (refusal === undefined) return item
  const { candidates } = refusal
  return { ...item, kind: candidates.length === 0 ? 'unknown' : 'candidates', stock_code: null, candidates }
}

/**
 * Whether the entry requires an answer before it is sent. A ticker that is in no list is sent unchanged unless the user
 * selects another one.
 */
export const isOpen = ({ input, kind }: StockReading, choices: Choices): boolean =>
  kind === 'unknown' || (kind === 'candidates' && !choices.has(input))

/** The code to send, or null for an entry that is left out. */
export function codeOf({ input, stock_code }: StockReading, choices: Choices): string | null {
  const chosen = choices.get(input)
  return chosen === undefined ? stock_code : chosen
}
