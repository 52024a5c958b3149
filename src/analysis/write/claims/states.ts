// Claims without a figure that data can decide: limits, new extremes, crosses, consecutive days, the report's advice.

import type { KnownFacts } from './known.ts'
import { countOf } from './numerals.ts'

type Decide = (known: KnownFacts, groups: Record<string, string | undefined>) => boolean | null

const above = (value: number | null | undefined, level: number) => (value == null ? null : value > level)
const below = (value: number | null | undefined, level: number) => (value == null ? null : value < level)
const not = (value: boolean | null) => (value === null ? null : !value)

function atLimit(known: KnownFacts, sign: 1 | -1): boolean | null {
  const { changePct } = known.values
  if (known.isSuspended || changePct === null) return false
  if (known.limitPct === null) return sign * changePct < 3 ? false : null
  return sign * changePct >= known.limitPct - 0.1
}

function isRun(known: KnownFacts, sign: 1 | -1, days: number): boolean {
  if (known.isSuspended) return false
  const closes = known.closes.slice(-1 - days)
  return closes.length > days && closes.every((close, i) => i === 0 || sign * (close - (closes[i - 1] ?? close)) > 0)
}

function crossed(known: KnownFacts, sign: 1 | -1): boolean {
  const sides = known.difs.slice(-6).map((dif, i) => sign * ((dif ?? 0) - (known.deas.slice(-6)[i] ?? 0)))
  return (sides.at(-1) ?? 0) > 0 && sides.slice(0, -1).some((side) => side < 0)
}

function broke60({ values: { price, ma60 }, closes, ma60s }: KnownFacts): boolean {
  if (price === null || ma60 === null || price >= ma60) return false
  return closes.slice(-22, -1).some((close, i) => close > (ma60s.slice(-22, -1)[i] ?? Number.POSITIVE_INFINITY))
}

function ordered({ values: { ma5, ma10, ma20 } }: KnownFacts, sign: 1 | -1): boolean | null {
  if (ma5 === null || ma10 === null || ma20 === null) return false
  return sign * (ma5 - ma10) > 0 && sign * (ma10 - ma20) > 0
}

const newExtreme = (known: KnownFacts, side: 'high52' | 'low52') =>
  !known.isSuspended && known.values[side] !== null && known.dates[side] === known.dates.session

const days = (groups: Record<string, string | undefined>) =>
  countOf(groups.n ?? groups.m ?? groups.o ?? groups.p ?? '3') ?? 3

const volumeRose: Decide = ({ values }) => above(values.volumeVsPrevious, 1.05)
const volumeFell: Decide = ({ values }) => below(values.volumeVsPrevious, 0.95)
const volumeTwice: Decide = ({ values: { volumeVsPrevious: v } }) => (v === null ? false : v >= 1.9 && v <= 2.4)
const up: Decide = ({ values, isSuspended }) => (isSuspended ? false : above(values.changePct, 0.05))
const down: Decide = ({ values, isSuspended }) => (isSuspended ? false : below(values.changePct, -0.05))

const isMonthOf = (date: string | null, name: string) =>
  date !== null && MONTHS[Number(date.slice(5, 7)) - 1]?.startsWith(name.toLowerCase()) === true
const MONTHS = 'january february march april may june july august september october november december'.split(' ')

const N = '(?<n>\\d+|[一二两三四五六七八九十]+)'

/** The first matching pattern takes the words; one clause may contain several. */
const TABLE: readonly (readonly [string, Decide])[] = [
  ['跌停|limit[- ]down|lower limit|하한가', (k) => atLimit(k, -1)],
  ['涨停|limit[- ]up|upper limit|상한가', (k) => atLimit(k, 1)],
  [
    "(?<mon>January|February|March|April|May|June|July|August|September|October|November|December)(?:'s)? (?<side>low|high|peak)\\b",
    ({ dates }, g) => isMonthOf(g.side === 'low' ? dates.low52 : dates.high52, g.mon ?? ''),
  ],
  [
    '新高|(?:也是|正是|就是)近?一年的?最高价|一年来的?最高价|(?:highest price|best level) in (?:52 weeks|a year)|(?:new|fresh) (?:52-week|one-year) high|신고가|최고가를 새로|(?:1년|52주) 내 최고가(?:가 아|입니다|이다|다)',
    (k) => newExtreme(k, 'high52'),
  ],
  [
    '新低|(?:也是|正是|就是)近?一年的?最低价|一年来的?最低价|lowest price in (?:52 weeks|a year)|(?:new|fresh) (?:52-week|one-year) low|신저가|최저가로 떨어|최저가를 새로|(?:1년|52주) 내 최저가(?:가 아|입니다|이다|다)',
    (k) => newExtreme(k, 'low52'),
  ],
  [
    `(?:连续${N}个?(?:交易)?[日天](?:上涨|收高|收涨|走高))|(?<o>[三四五六七八九十])连[涨阳]|连涨(?<p>[二三四五六七八九十\\d]+)个?(?:交易)?[日天]|(?:closed higher|risen|rose|gains?) (?:for )?(?<m>\\w+) (?:straight )?(?:sessions|days|times)(?: in a row| running| straight)|(?:three|\\d) (?:up|rising|higher) (?:days|sessions|closes) in a row`,
    (k, g) => isRun(k, 1, days(g)),
  ],
  [
    `(?:连续${N}个?(?:交易)?[日天](?:下跌|收低|收跌|走低))|(?<o>[三四五六七八九十])连[跌阴]|连跌(?<p>[二三四五六七八九十\\d]+)个?(?:交易)?[日天]|(?:closed lower|fallen|fell|losses) (?:for )?(?<m>\\w+) (?:straight )?(?:sessions|days|times)(?: in a row| running| straight)|(?:three|\\d) (?:down|falling|lower) (?:days|sessions|closes) in a row`,
    (k, g) => isRun(k, -1, days(g)),
  ],
  ['(?:(?<n>사흘|나흘|닷새)|(?<m>\\d+)(?:거래일|일)) 연속 (?:상승|올랐|오르)', (k, g) => isRun(k, 1, days(g))],
  ['(?:(?<n>사흘|나흘|닷새)|(?<m>\\d+)(?:거래일|일)) 연속 (?:하락|내렸|내리)', (k, g) => isRun(k, -1, days(g))],
  ['多头排列|bullish (?:order|alignment)|정배열', (k) => ordered(k, 1)],
  ['空头排列|bearish (?:order|alignment)|역배열', (k) => ordered(k, -1)],
  [
    'DIF仍?(?:高于DEA|(?:在|位于)DEA(?:之上|上方))|DIF is still above DEA',
    ({ values: { dif, dea } }) => (dif === null || dea === null ? null : dif > dea),
  ],
  [
    'DIF仍?(?:低于DEA|(?:在|位于)DEA(?:之下|下方))|DIF is still below DEA',
    ({ values: { dif, dea } }) => (dif === null || dea === null ? null : dif < dea),
  ],
  ['bullish (?:MACD )?cross|金叉|上穿|golden cross|crossed above|골든크로스|상향 돌파', (k) => crossed(k, 1)],
  [
    'bearish (?:MACD )?cross|死叉|下穿|dead cross|death cross|crossed below|데드크로스|DEA를 하향 돌파',
    (k) => crossed(k, -1),
  ],
  [
    'above (?:the )?zero line|零轴之?[上]|均在0轴上|both above zero|0선 위',
    ({ values: { dif, dea } }) => (dif === null || dea === null ? null : dif > 0 && dea > 0),
  ],
  [
    'below (?:the )?zero line|零轴之?下|both below zero|0선 아래',
    ({ values: { dif, dea } }) => (dif === null || dea === null ? null : dif < 0 && dea < 0),
  ],
  [
    'RSI ?12[^,，]*?(?:above 70|[高大]于70|超过70|70을? ?(?:넘|웃))(?!.*(?:超买|overb|과매))',
    ({ values }) => above(values.rsi12, 70),
  ],
  [
    'RSI ?12[^,，]*?(?:below 30|[低小]于30|跌破30|30을? ?(?:밑돌|하회))(?!.*(?:超卖|overs|과매))',
    ({ values }) => below(values.rsi12, 30),
  ],
  ['超买|overbought|과매수', ({ values }) => above(values.rsi12, 70)],
  ['超卖|oversold|과매도', ({ values }) => below(values.rsi12, 30)],
  [
    '(?:跌破|失守|破了?|守住).{0,4}(?:60|六十)日(?:均线|线)|(?:60|六十)日(?:均线|线)(?:也|已|没有|并未)?(?:跌?破|失守)|(?:fell|broke|fallen) (?:through|below) (?:its |the )?(?:MA60|60-day)|lost its 60-day|60-day average has (?:not )?been lost|60일\\s?(?:이동평균)?선[을은이]? ?(?:하향 이탈|깨|이탈)',
    broke60,
  ],
  [
    '(?:成交量|volume|거래량)[^。]{0,14}(?:翻了?一[番倍]|翻倍|doubl|두 배|갑절)|twice the volume|doubling of volume',
    volumeTwice,
  ],
  [
    '量能[^，。]{0,6}放大|放量|\\b(?:rising|higher|heavier|heavy|growing|expanding|increased) volume|volume (?:is|was|has been) (?:rising|growing)|成交量[^，。]{0,10}(?:放大|增加|上升|扩大|放出|多于|高于)|volume (?:did not |didn.t )?(?:grow\\b|rise\\b|increase\\b|expand\\b)|volume (?:grew|rose|increased|expanded|was (?:up|higher))|거래량[이은]? ?[^,]{0,8}(?:늘|증가)',
    volumeRose,
  ],
  [
    '量能[^，。]{0,6}(?:收缩|萎缩)|缩量|\\b(?:falling|lower|lighter|light|thin|thinner|shrinking|declining|reduced) volume|volume (?:is|was|has been) (?:falling|shrinking)|成交量[^，。]{0,10}(?:萎缩|减少|缩小|下降|缩减|少于|低于)|volume (?:shrank|fell|dropped|declined|did not shrink|was (?:down|lower))|거래량[이은]? ?[^,]{0,8}(?:줄|감소)',
    volumeFell,
  ],
  [
    '(?:成交量|量能)(?:还)?不到(?:昨[天日]|前一(?:个交易)?日|上一(?:个)?交易日)的一半',
    ({ values }) => below(values.volumeVsPrevious, 0.5),
  ],
  [
    '(?:net (?:profit|income)|profit|earnings) (?:has |have )?doubled|净?利润(?:同比)?翻(?:了?一番|倍)|순이익[이은] [^,]{0,6}두 배',
    ({ values: { profitGrowthPct: v } }) => (v === null ? false : v >= 90 && v <= 130),
  ],
  [
    '低于每股净资产|破净|below (?:its )?book|under book|(?:순자산|장부)(?:가치?)?(?:보다 낮|를 밑|을 밑|에 못)',
    ({ values }) => below(values.pb, 1),
  ],
  [
    '高于每股净资产|above (?:its )?book|(?:순자산|장부)(?:가치?)?(?:보다 높|를 웃|을 웃)',
    ({ values }) => above(values.pb, 1),
  ],
  [
    '亏损|亏钱|loss[- ]mak|loses money|(?:earnings per share|EPS) (?:is|are|was|were) negative|每股收益为负|주당순이익[은이] (?:음수|마이너스)|mak(?:es|ing) a loss|in the red|적자|마이너스입니다',
    ({ values }) => below(values.eps, 0),
  ],
  ['盈利|profitable|makes a profit|earns money|흑자', ({ values }) => above(values.eps, 0)],
  [
    '(?:派|分)(?:发|有)?(?:现金)?(?:股息|红)|有股息|支付股息|pays? (?:a |no )?dividends?|배당을 (?:지급|주|하)|배당금?[이은]? (?:전혀 )?없',
    ({ values }) => above(values.dividendYieldPct ?? 0, 0),
  ],
  [
    '(?:营收|收入)(?:同比)?(?:有所)?(?:增长|上升|增加)|(?:revenue|sales) (?:grew|rose|increased)|매출[은이]? ?[^,]{0,8}(?:늘|증가(?!율))',
    ({ values }) => above(values.revenueGrowthPct, 0),
  ],
  [
    '(?:营收|收入)(?:同比)?(?:有所)?(?:下降|下滑|减少)|(?:revenue|sales) (?:fell|shrank|declined|dropped)|매출[은이]? ?[^,]{0,8}(?:줄|감소)',
    ({ values }) => below(values.revenueGrowthPct, 0),
  ],
  [
    '净利润(?:同比)?(?:有所)?(?:增长|上升|增加)|(?:profit|earnings) (?:grew|rose|increased)|순이익[은이]? ?[^,]{0,8}(?:늘|증가(?!율))',
    ({ values }) => above(values.profitGrowthPct, 0),
  ],
  [
    '净利润(?:同比)?(?:有所)?(?:下降|下滑|减少)|profits? (?:fell|shrank|declined|dropped)|순이익[은이]? ?[^,]{0,8}(?:줄|감소)',
    ({ values }) => below(values.profitGrowthPct, 0),
  ],
  [
    '(?:60|六十)个?(?:交易)?日(?:以来)?(?:整体|累计)?(?:是)?(?:上涨|走高)(?!\\s?[\\d约百])|(?:up|rose|risen|higher) over (?:the last )?(?:60|sixty) sessions(?! by)|60거래일 동안 (?:올랐|상승)',
    ({ values }) => above(values.change60Pct, 0),
  ],
  [
    '(?:60|六十)个?(?:交易)?日(?:以来)?(?:整体|累计)?(?:是)?(?:下跌|走低)(?!\\s?[\\d约百])|(?:down|fell|fallen|lower) over (?:the last )?(?:60|sixty) sessions(?! by)|60거래일 동안 (?:내렸|하락)',
    ({ values }) => below(values.change60Pct, 0),
  ],
  [
    '高开|开盘(?:价)?高于|opened (?:higher|above)|높게 (?:출발|시작|개장|열)',
    ({ values: { open, prevClose } }) => (open === null || prevClose === null ? false : open > prevClose),
  ],
  [
    '低开|opened (?:lower|below)|낮게 (?:출발|시작|개장|열)',
    ({ values: { open, prevClose } }) => (open === null || prevClose === null ? false : open < prevClose),
  ],
  [
    '收[涨高阳](?!.{0,3}\\d)|closed? (?:higher|up)(?! \\d| \\w+ (?:sessions|days))|오르며 마감|상승 마감|올라 마감|(?:오늘|당일)[^\\d]*(?:오르지|상승하지) |(?:今[天日]|当[天日])(?:并?没有|并?未|不曾)?(?:上涨|收?涨)(?![停幅跌了]|.{0,3}\\d)|(?:오늘|당일)[^\\d]*올랐',
    up,
  ],
  [
    '收[跌低阴](?!.{0,3}\\d)|closed? (?:lower|down)(?! \\d| \\w+ (?:sessions|days))|내리며 마감|하락 마감|내려 마감|(?:오늘|당일)[^\\d]*(?:내리지|하락하지) |(?:今[天日]|当[天日])(?:并?没有|并?未|不曾)?(?:下跌|收?跌)(?![停幅了]|.{0,3}\\d)|(?:오늘|당일)[^\\d]*내렸',
    down,
  ],
  [
    '低点[^。,，]{0,4}(?:尚?未|还?没有?)[^。,，]{0,4}翻(?:了一?)?[番倍]|(?:一年|52周)?低点(?:算起|以来|已经?)[^。]*(?:翻了?一?[番倍])|(?:more than )?doubled from its 52-week low|저점에서 [^,]{0,4}두 배',
    ({ values }) => above(values.aboveLow52Pct, 100),
  ],
  ['(?<!거래량[^,]*)두 배(?:를 (?:넘|웃)|에(?:는)? 미치)', ({ values }) => above(values.aboveLow52Pct, 100)],
  [
    '(?:lost|losing) less than half|跌去不到一半|跌幅不[到足]一半|절반(?:도|까지) |절반에 못 미',
    ({ values }) => below(values.belowHigh52Pct, 50),
  ],
  [
    '腰斩|(?:跌去|跌掉|losing|lost)(?:了)? ?(?:一半|more than half|half)|more than half below|halved|반토막|절반 (?:넘게|이상|아래)',
    ({ values }) => above(values.belowHigh52Pct, 50),
  ],
  [
    '上市(?:不足|未满|不到|才)|(?:for )?fewer than (?:60|sixty)|(?:newly|recently|just) listed|상장(?:한 지| 기간[은이])? ?[^,]{0,14}(?:안 [되됩돼된]|미만|않)',
    ({ closes }) => closes.length < 60,
  ],
  [
    '上市(?:已)?(?:超过|满)|listed for more than|상장(?:한 지)? ?[^,]{0,16}(?:넘었|넘)',
    ({ closes }) => closes.length >= 60,
  ],
  [
    '(?:市场|大盘|股市|A股|港股|美股|沪深|交易所)(?:目前|现在|当前|今天|此刻|仍然?|正|已|尚|还)*(?:没有?|未)?(?:处于|在)?(?:开盘|开市|开放交易|盘中|交易时段|交易中)|(?:目前|现在|当前|此刻|仍|正)(?:处于|在)?(?:盘中|交易时段|开盘交易)|\\bmarkets? (?:is|are|remains?)(?:n.t)? (?:still |now |not |yet |currently |right now )*(?:open|trading|in session)\\b|\\b(?:session|trading) (?:is|remains) (?:still |now |not )*(?:open|running|under ?way|in progress)|(?:시장|증시|장)[은는이가] (?:현재 |지금 |아직 )*(?:열려|열리|개장|장중|거래 중)|(?:현재|지금) 장중',
    (k) => k.isOpen,
  ],
  [
    '(?:市场|大盘|股市|A股|港股|美股|沪深|交易所)(?:目前|现在|当前|今天|此刻|现|已经?|尚|还|仍)*(?:没有?|未)?(?:收盘|收市|休市|闭市|关闭)|(?:目前|现在|当前|现)已?经?(?:收盘|收市|休市|闭市)|\\bmarkets? (?:is|are|has|have|remains?)(?:n.t)? (?:now |not |already |currently |yet )*(?:closed|shut)\\b|(?:시장|증시|장)[은는이가] (?:현재 |지금 |이미 |아직 )*(?:마감|닫|휴장|끝났|끝나)',
    (k) => (k.isOpen === null ? null : !k.isOpen),
  ],
  [
    '(?:今[日天])(?:是|为)?(?:休市|非交易日|节假日|假期)|today is (?:a (?:market )?holiday|no trading day|not a trading day)|오늘은 (?:휴장|거래일이 아니)',
    (k) => (k.isTradingDay === null ? null : !k.isTradingDay),
  ],
  ['停牌|suspended(?! its)|거래정지|거래가 정지', (k) => k.isSuspended],
  [
    '交易活跃|成交活跃|正常交易|trades normally|trading (?:was )?(?:brisk|normal)|거래가? (?:활발|정상)|정상(?:적으로)? 거래',
    (k) => !k.isSuspended,
  ],
  ['拆股|stock split|(?:was|were|been) split|주식분할|주식을? ?분할', (k) => k.split !== null],
]

const ADVICE: readonly (readonly [string, Decide])[] = [
  [
    '(?:置信度|confidence|신뢰도)[^，,。]{0,12}(?:高|high|높)|high(?: stated)? confidence',
    (k) => k.confidence === 'high',
  ],
  ['(?:置信度|confidence|신뢰도)[^，,。]{0,12}(?:低|low|낮)|low(?: stated)? confidence', (k) => k.confidence === 'low'],
  [
    '(?:置信度|confidence|신뢰도)[^，,。]{0,12}(?:中|medium|보통|중간)|medium confidence',
    (k) => k.confidence === 'medium',
  ],
  [
    '(?:既不|不建议)买(?:入)?也不|neither buys? nor sells?|hold or watch|持有|观望|관망|보유',
    (k) => k.advice === 'wait',
  ],
  [
    '(?:建议|操作|报告|意见)[^，,。]{0,10}(?:买入|买进)|advis\\w+ (?:is )?(?:to )?buy|(?:属于|评级[为是])\\s?(?:强烈)?(?:买入|买进)|\\ba (?:strong )?buy\\b|(?:report|verdict|recommends?)[^,]{0,20}\\bbuy|^\\s*(?:strong )?buy\\s*$|^\\s*매수\\s*$|^\\s*买入\\s*$|매수를? ?(?:권|의견|추천|하라)|(?:의견|리포트)[^,]{0,8}매수',
    (k) => k.advice === 'buy',
  ],
  [
    '(?:建议|操作|报告|意见)[^，,。]{0,10}(?:卖出|减仓)|advis\\w+ (?:is )?(?:to )?sell|(?:属于|评级[为是])\\s?(?:强烈)?(?:卖出|减仓)|(?:report|verdict|recommends?)[^,]{0,20}\\bsell|매도를? ?(?:권|의견|추천|하라)|(?:의견|리포트)[^,]{0,8}매도|^\\s*매도\\s*$|^\\s*(?:strong )?sell\\s*$|^\\s*卖出\\s*$',
    (k) => k.advice === 'sell',
  ],
  ['강력 ?매수|强力买入', (k) => k.advice === 'buy' && k.isStrong],
  ['강력 ?매도|强力卖出', (k) => k.advice === 'sell' && k.isStrong],
  ['强烈(?:买入|卖出)|strong(?:ly)? (?:buy|sell)|적극 매[수도]', (k) => k.isStrong],
  [
    '(?:趋势|走势)[^，,。]{0,8}(?:多头|看多|看涨|上升)|trend[^,]{0,14}bullish|bullish trend|추세[^,]{0,10}(?:상승|강세)',
    (k) => k.trend === 'bull',
  ],
  [
    '(?:趋势|走势)[^，,。]{0,8}(?:空头|看空|看跌|下降)|trend[^,]{0,14}bearish|bearish trend|추세[^,]{0,10}(?:하락|약세)',
    (k) => k.trend === 'bear',
  ],
]

const RULES = [...TABLE, ...ADVICE].map(([pattern, decide]) => {
  // Older engines do not allow one group name in two alternatives, so the alternatives get different names.
  return { pattern: new RegExp(pattern, 'i'), decide }
})

const NEGATION =
  /something else than|other than |anything but|没有|并?未|并非|不(?!足|到|低于|过|断|及)|无(?!量)|没|\bnot\b|n['’]t\b|\bno\b|\bnever\b|\bneither\b|않|못|아닙|아니|없/i

export const isNegated = (clause: string) =>
  NEGATION.test(
    clause
      .replace(/.*(?:아니라|而是|反而)\s*(?=\S)/, '')
      .replace(/체결이 없\S*|没有(?:新的)?成交|no (?:new )?trad(?:es|ing)/g, ''),
  )

/** Whether it advises an action; advice that no rule recognises is unknown. */
export const tellsAdvice = (clause: string): boolean =>
  /(?:属于|建议|评级|信号).{0,6}(?:买入|卖出|清仓|满仓|加仓|减仓)|(?:report|advice|verdict|rating)\b.{0,24}\b(?:buy|sell)\b|(?:의견|리포트).{0,10}(?:매수|매도)/i.test(
    clause,
  )

/** The verdict on each claim of the clause; null when the data do not decide. */
export function statesIn(clause: string, known: KnownFacts): (boolean | null)[] {
  return RULES.flatMap(({ pattern, decide }) => {
    const match = pattern.exec(clause)
    if (match === null) return []
    const isDouble = /^(?:neither|既不|不建议)|is still|못 미|얼마 (?:되지 않|안)/i.test(match[0])
    const held = decide(known, match.groups ?? {})
    return [isNegated(clause) && !isDouble ? not(held) : held]
  })
}
