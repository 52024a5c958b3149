// What a figure is about: what the facts are called. The first name that fits a place takes it, so longer names stand first.

import type { FactName } from './known.ts'

export type Mention = {
  readonly kind: 'mention'
  readonly facts: readonly FactName[]
  readonly at: number
  readonly end: number
}

const day = (n: string, words: string, ma: number) =>
  `MA\\s?${ma}(?!\\d{1,2}(?!\\d*[.]))(?:线|선)?|(?<!\\d)(?:${n})\\s?(?:日|天)(?:移动)?(?:平?均线|线)|(?<!\\d)(?:${n}|${words})[- ]day (?:moving )?(?:average|mean|line|MA)|(?<!\\d)(?:${n})일\\s?(?:이동평균선|이평선|선)`
const span = (n: string, words: string) =>
  [
    `(?:最?近|过去|最近)(?:的)?(?:${n})个?(?:交易)?(?:日|天)(?:累计)?(?:涨跌幅)?`,
    `(?<!\\d)(?:${n})个?(?:交易)?(?:日|天)(?:累计)?(?:涨跌幅|涨幅|跌幅|跌去|累计)?(?=跌|涨|累|，|内|里|来|下|上|整|\\s?[+-]?\\d+(?:\\.\\d+)?%)`,
    `(?<!\\d)(?:${n})(?:日|天)(?:涨跌幅|涨幅|跌幅)`,
    `(?<![\\d.])(?:${n}|${words})[- ](?:day|session)s? (?:change|gain|loss|return)`,
    `(?:over|in|within|for|during) (?:the )?(?:last |past )?(?:${n}|${words}) (?:trading )?(?:sessions|days)`,
    `\\b(?:over|in) ${words}(?=[,:] )`,
    `(?<!\\d)(?:${n})(?:거래일|일)\\s?(?:등락률|동안|간|기준(?:으로)?(?:는)?)`,
    `(?:최근|지난) (?:${n})거래일\\s?(?:간|동안)?`,
  ].join('|')

const TABLE: readonly (readonly [FactName | readonly FactName[], string])[] = [
  [
    'volumeVsPrevious',
    '成交量与前一日之比|volume against the day before|전일 대비 거래량 배수|成交量(?:约|大约)?(?:是|为)前一(?:个交易)?日的|거래량(?:은|이) 전일의',
  ],
  ['prevClose', '昨日?收(?:盘)?价?|前收盘?价?|previous close|전일 종가'],
  ['bias5', '(?:MA5|5日)乖离率|bias to MA5|MA5 이격도(?:\\(편차\\))?'],
  ['bias10', '(?:MA10|10日)乖离率|bias to MA10|MA10 이격도(?:\\(편차\\))?'],
  ['bias20', '(?:MA20|20日)乖离率|bias to MA20|MA20 이격도(?:\\(편차\\))?'],
  [
    'position52Pct',
    '在?52周区间(?:自下而上|中)的?位?置?|position in the 52-week range|52주 범위(?: 내|의) (?:위치|아래에서)|of the way up its 52-week range|way up its 52-week range',
  ],
  [
    'belowHigh52Pct',
    '[距较]52周高点的?(?:跌幅|回落)|距离?高点|distance below the 52-week high|(?:52주|1년) (?:최?고점?|최고가) 대비(?: 하락률)?|(?:off|below) its 52-week (?:high|peak)',
  ],
  [
    'aboveLow52Pct',
    '较52周低点的?(?:涨幅|上涨)|gain from the 52-week low|from its 52-week low|(?:52주|1년) (?:최?저점?|최저가) 대비(?: 상승률)?',
  ],
  [
    ['low52', 'high52'],
    '(?:52周|一年)(?:价格)?区间(?!自|中)|52-week range|traded between(?=[^.]*\\d[^.]*in 52 weeks|[^.]*in 52 weeks)|52주 범위(?! 내|의)',
  ],
  [
    ['bollLower', 'bollUpper'],
    '布林带(?:区间)?|Bollinger bands|볼린저 밴드(?! 상단| 하단| 중심| 하| 상)(?: 구간| 범위)?',
  ],
  [['target1', 'target2'], '两个目标价|target 1 ?/ ?target 2|(?:the )?two targets|두 목표가|목표가 두 개'],
  [['support', 'resistance'], '지지·저항 구간|支撑(?:与|和|、)(?:压力|阻力)区间'],
  [
    'high52',
    '(?<=52주 최저[^가-힣]*(?:위안|원|엔|홍콩달러|달러)?[, ]*)최고|(?:52周|一年)(?:的)?(?:最高价|最高点|高点|高价|最高)|52-week (?:high|peak)|last [A-Z][a-z]+.s (?:high|peak)|(?:52주|1년)(?: 내)? (?:최고가|고점|최고)(?:보다)?',
  ],
  [
    'low52',
    '(?:52周|一年)(?:的)?(?:最低价|最低点|低点|低价|最低)|52-week low|last [A-Z][a-z]+.s low|(?:52주|1년)(?: 내)? (?:최저가|저점|최저)(?:보다)?',
  ],
  [
    ['ma5', 'ma10', 'ma20'],
    '5-(?:day)?, 10-(?:day)? and 20-day (?:moving )?averages|(?:5日?|五日)[、,/和](?:10日?|十日)[、,/和](?:20日|二十日)(?:平?均线|线)|5일?[·,/] ?10일?[·,/] ?20일\\s?(?:이동평균선|이평선|선)',
  ],
  ['ma250', `${day('250|二百五十', 'two-hundred-and-fifty', 250)}|(?<!半)年线|the 250-day`],
  ['ma120', `半年线|${day('120|一百二十', 'hundred-and-twenty', 120)}`],
  ['ma60', day('60|六十', 'sixty', 60)],
  ['ma20', day('20|二十', 'twenty', 20)],
  ['ma10', day('10|十', 'ten', 10)],
  ['ma5', day('5|五', 'five', 5)],
  ['rsi24', 'RSI\\s?\\(?24\\)?|24(?:-day|日|일) ?RSI'],
  ['rsi12', 'RSI\\s?\\(?12\\)?|12(?:-day|日|일) ?RSI'],
  ['rsi6', 'RSI\\s?\\(?6\\)?|6(?:-day|日|일) ?RSI'],
  ['k', 'KDJ的K值|K of KDJ|KDJ K value|KDJ의 K값|K值'],
  ['d', 'KDJ的D值|D of KDJ|KDJ D value|KDJ의 D값|D值'],
  ['j', 'KDJ的J值|J of KDJ|KDJ J value|KDJ의 J값|J值'],
  ['dif', 'MACD的DIF|DIF of MACD|MACD DIF|MACD의 DIF|(?<![a-z])DIF(?![a-z])'],
  ['dea', 'MACD的DEA|DEA of MACD|MACD DEA|MACD의 DEA|(?<![a-z])DEA(?![a-z])'],
  ['histogram', 'MACD柱状?值?|柱状值|MACD histogram|MACD 히스토그램|柱子'],
  ['bollUpper', '布林(?:带)?上轨|upper (?:Bollinger )?band|볼린저 밴드 상단'],
  ['bollMiddle', '布林(?:带)?中轨|middle (?:Bollinger )?band|볼린저 밴드 중심선'],
  ['bollLower', '布林(?:带)?下轨|lower (?:Bollinger )?band|볼린저 밴드 하단'],
  ['atr', 'ATR\\s?14|14日ATR|14-day ATR|14일 ATR|\\bATR\\b'],
  ['change5Pct', span('5|五', 'five')],
  ['change20Pct', `近一个月\\(20个交易日\\)|${span('20|二十', 'twenty')}`],
  ['change60Pct', span('60|六十', 'sixty')],
  ['turnoverRatePct', '换手率?|turnover rate|회전율|of the float'],
  ['volumeRatio', '量比|volume ratio|거래량 비율'],
  ['amount', '成交额|turnover value|거래대금|\\bturnover\\b'],
  ['changePct', "(?:当日|今日)涨?跌?幅|day's percentage change|당일 등락률"],
  ['change', '涨跌额|change on the day|전일 대비 등락액'],
  ['amplitudePct', "(?:当日)?振幅|day's amplitude|당일 진폭"],
  ['marketCap', '总?市值|market (?:capitalisation|capitalization|cap|value)|시가총액'],
  [['low', 'high'], '(?:盘中|当日)(?:波动)?区间|session range|장중 범위|当日在|traded between|당일(?= [^ ]*\\d[^ ]*~)'],
  [
    'open',
    '(?:今日)?开盘价|(?:今[天日])?开(?:盘|于|在)?(?=\\s?[\\d¥])|opening price|\\bopen\\b|\\bopened at|시가(?!총)',
  ],
  [
    'high',
    "(?:当日|盘中)?最高价?(?:摸到|到|至|为|价)?(?=\\s?[\\d¥])|(?:当日|盘中)最高价?(?:摸到)?|(?:day's|session) high|(?:topped out|peaked) at|(?:당일|장중) 고가|고가",
  ],
  [
    'low',
    "(?:当日|盘中)?最低价?(?:到|至|为|价)?(?=\\s?[\\d¥])|(?:当日|盘中)最低价?|(?:day's|session) low|(?:dipped|bottomed(?: out)?) (?:to|at)|(?:당일|장중) 저가|저가",
  ],
  ['volume', '成交量|trading volume|\\bvolume\\b|거래량'],
  [
    'pe',
    '市盈率|price-earnings ratio|P/E(?: ratio)?|\\bPE(?![a-z])|(?<![a-z])PER(?![a-z]|\\s[a-z])|주가수익비율|(?<=(?:times|x) )earnings',
  ],
  ['pb', '市净率|price-to-book ratio|P/B(?: ratio)?|\\bPB(?!R)(?![a-z])|PBR|주가순자산비율|(?<=(?:times|x) )book'],
  ['eps', '每股收益|\\bEPS|earnings per share|주당순이익|주당(?=\\s?-?\\d)|(?:a|per) share(?= (?:of )?earnings)'],
  ['roePct', 'ROE|净资产收益率|return on equity|자기자본이익률'],
  ['debtRatioPct', '资产?负债率|负债率|debt ratio|부채비율'],
  ['dividendYieldPct', '股息率|dividend yield|배당수익률|(?<=[%\\d] )yield|\\byield(?= \\d)'],
  [
    'profitGrowthPct',
    '净利润(?:同比)?(?:增速)?|net (?:profit|income)(?: growth)?|\\b(?:profits?|earnings)(?: growth)?(?![- ](?:per|taking|ratio))|순이익(?: 증가율)?',
  ],
  [
    'revenueGrowthPct',
    '(?:营收|营业收入)(?:同比)?(?:增速)?|revenues?(?: growth)?|\\bsales(?: growth)?\\b|매출(?: 증가율)?',
  ],
  ['score', '综合评分|评分|overall score|\\bscore\\b|종합 점수|점수'],
  ['support', '支撑位?|\\bsupport(?: level)?|지지선'],
  ['resistance', '压力位?|阻力位?|\\bresistance(?: level)?|저항선'],
  ['stop', '止损[位价]?|\\bstop(?:[- ]loss)?\\b|손절가?'],
  ['idealBuy', '理想买[点入]价?|ideal (?:entry|buy)(?: level)?|이상적 매수가?|(?<=- )entry'],
  ['secondaryBuy', '次优买点|second entry|secondary buy(?: level)?|차선 매수가'],
  ['target2', '第二目标价?|second target|target 2|2차 목표가'],
  ['target1', '第一目标价?|目标[价位]|first target|target 1|1차 목표가|목표가|\\btarget\\b(?! of)'],
  [
    'rewardRisk',
    '盈亏比|风险收益比|风险与回报之?比?|risk[- ]to[- ]reward(?: ratio)?|reward[- ]to[- ]risk(?: ratio)?|손익비|위험 대비 보상|R:R|the plan offers',
  ],
  [
    'price',
    '收盘价|最新价|现价|股价|收[在于报盘]?(?=\\s?[\\d¥A-Z])|last price|closing price|current price|the close\\b|the price\\b|\\bclosed at|현재가|종가|주가',
  ],
]

const RULES = TABLE.map(([facts, pattern]) => ({
  facts: typeof facts === 'string' ? [facts] : facts,
  pattern: new RegExp(pattern, 'gi'),
}))

/** Every place of a text that names a fact, in order. */
export function mentionsIn(text: string): Mention[] {
  const found: Mention[] = []
  for (const { facts, pattern } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const [at, end] = [match.index, match.index + match[0].length]
      if (end > at && !found.some((other) => at < other.end && other.at < end))
        found.push({ kind: 'mention', facts, at, end })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}
