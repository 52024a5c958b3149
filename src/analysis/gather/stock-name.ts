import type { Instrument } from '../../market/instruments.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'

export type Names = Partial<Record<ReportLanguage, string | null>>

/** The scripts in which a language's readers know a name, in order of preference. */
const ORDER: Record<ReportLanguage, readonly ReportLanguage[]> = {
  zh: ['zh', 'en', 'ko'],
  en: ['en', 'zh', 'ko'],
  ko: ['ko', 'en', 'zh'],
}
const SCRIPT = { zh: 'Han', en: 'Latin', ko: 'Hangul' } as const satisfies Record<ReportLanguage, string>

/**
 * The name of a listing: its own first, a source's name if its own has no script that the report's readers know, never
 * a placeholder. Null when no name is known.
 */
export function knownName(
  names: Names,
  quoteName: string | null,
  { language, instrument }: { language: ReportLanguage; instrument: Instrument },
): string | null {
  const quoted = clean(quoteName ?? '')
  const known = ORDER[language].flatMap((key) => {
    const name = clean(names[key] ?? '')
    // In the index some companies are named like their tickers: IBM is a name.
    const own = isPlaceholder(name, instrument) && !isTicker(name, instrument) ? [] : [name]
    return isIn(SCRIPT[key], quoted) && !isPlaceholder(quoted, instrument) ? [...own, quoted] : own
  })
  const isLast = !isPlaceholder(quoted, instrument) || isTicker(quoted, instrument)
  return known[0] ?? (isLast ? quoted : null)
}

const isIn = (script: 'Han' | 'Latin' | 'Hangul', text: string): boolean => SCRIPTS[script].test(text)
const SCRIPTS = {
  Han: /\p{Script=Han}/u,
  Latin: /^[^\p{Script=Han}\p{Script=Hangul}]*\p{Script=Latin}/u,
  Hangul: /\p{Script=Hangul}/u,
}

/** The ticker of a share, which may also be a company's name. */
const isTicker = (name: string, { key, market }: Instrument): boolean => market === 'us' && name === key

/** The name to show for a stock. */
export function displayNameOf(stockName: string | null, language: ReportLanguage): string {
  return stockName ?? textsOf(language).report.unnamed
}

/** Whether two sources have different names for a listing. Names in different scripts cannot be compared. */
export function namesDisagree(ours: string | null | undefined, theirs: string | null): boolean {
  if (!ours || !theirs) return false
  const [a, b] = [core(ours), core(theirs)]
  if (a === '' || b === '' || isHan(a) !== isHan(b)) return false
  if (!isHan(a)) return !a.startsWith(b.slice(0, 4)) && !b.startsWith(a.slice(0, 4))
  const pairs = Array.from({ length: Math.max(a.length - 1, 0) }, (_, i) => a.slice(i, i + 2))
  if (isShortFor(a, b) || isShortFor(b, a)) return false
  const own = pairs.filter((pair) => !COMMON.has(pair))
  return !(own.length > 0 ? own : pairs).some((pair) => b.includes(pair))
}

/** Whether all characters of the short name occur in the long one, in order: 中石油, 中国石油. */
function isShortFor(short: string, long: string): boolean {
  let at = 0
  for (const character of long) if (character === short[at]) at += 1
  return short.length > 1 && at === short.length
}

/** Common parts of company names: they do not identify a company. */
const COMMON = new Set(
  (
    '银行 证券 保险 科技 股份 集团 控股 中国 国际 电子 医药 药业 制药 生物 能源 电力 电气 汽车 传媒 文化 材料 新材 发展 实业 ' +
    '环保 环境 软件 信息 技术 智能 化学 化工 钢铁 地产 置业 高速 港口 航空 食品 酒业 水泥 建筑 建设 机械 重工 通信 网络 光电 ' +
    '农业 农商 矿业 铝业 铜业 黄金 煤业 煤电 石油 石化 天然 燃气 水务 旅游 商业 百货 物流 航运 交通 股票 基金 公司 有限'
  ).split(' '),
)

const MAX_LENGTH = 100

/** Removes characters that would break a line or change the text direction. */
function clean(name: string): string {
  return name
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_LENGTH)
}

function isPlaceholder(name: string, { key, code }: Instrument): boolean {
  const text = name.toLowerCase()
  if (['', 'n/a', '-', '--', 'unknown', 'null', '未知', '待确认股票', '미확인 종목', 'unnamed stock'].includes(text))
    return true
  return [key, code, `股票${key}`, `股票${code}`].some((other) => other.toLowerCase() === text)
}

/** A listing's name without temporary marks of the exchanges: XD, ST, N, share-class letters. */
function core(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(\*?st|xd|xr|dr|n|c)(?=\p{Script=Han})/u, '')
    .replace(/-[a-z]{1,2}$/, '')
    .replace(/[\s.,&'-]+/g, '')
}

function isHan(text: string): boolean {
  return /\p{Script=Han}/u.test(text)
}
