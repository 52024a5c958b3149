// The names of the facts in three languages, and how a text mentions them. The first name that matches a position takes
// it, so longer names come first; some names count only after words that give their subject, or before their figure.

import type { FactName } from './known.ts'

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

/** A number of sessions that no other name took: not for an average or an oscillator. */
const loose = (n: string, words: string) =>
  [
    `(?<!\\d)(?:${n})个?(?:交易)?[日天](?:\\))?(?:以来|下来|里|内|间)?[，,]?(?:累计|表现)?(?!\\s?(?:均|线|移动|平|乖|的?(?:最高|最低|高点|低点)))(?=[^\\d。]{0,8}\\d[\\d.]*%)`,
    `(?<![\\d.])(?:${n}|${words})[- ](?:trading )?(?:day|session)s?(?: performance| move)?(?! ?(?:moving|average|mean|line|MA|RSI|ATR|high|low|norm))(?=[^\\d.;]{0,40}\\d[\\d.]*%)`,
    `(?<=\\bsessions?\\b(?:[^。.;]|[.](?=\\d))*)\\b${words}(?= (?:brought|gave|added|cost|made|saw))`,
    `(?:than|from) (?:${n}|${words}) (?:trading )?(?:sessions|days) ago`,
    `(?:최근 |지난 )?(?<!\\d)(?:${n})(?:거래일|일)\\)? ?(?:누적|수익률|사이|동안|만에)`,
  ].join('|')

/** 정배열(5일 20.22, 10일 20.46) */
const inBrackets = (ma: number) => `(?<=(?:이동평균선|이평선|배열)[^.]*)(?<!\\d)${ma}일(?=\\s[\\d,.]+)`

/** 均线之上：20日384.07: after a word for averages the number of days is enough. */
const briefly = (ma: number) => `(?<=均线[^。]*)(?<!\\d)${ma}日(?=\\s?\\d[\\d.,]*(?!\\d|[.,]\\d|%))`

const sixty = '(?:60|sixty)-(?:day|session)'

/** The name of a part of the score: 趋势部分, the trend part, 추세 항목. */
const part = (zh: string, en: string, ko: string) =>
  [
    `(?:评分(?:中|里)?的)?(?:${zh})(?:这一|一)?(?:部分|分项|项目|项|得分)(?:的?(?:得分|评分))?`,
    `(?:${en}) (?:part|component|points)(?: of the score)?(?: (?:scores|scored|earns|earned)(?= \\d))?`,
    `(?:${ko}) (?:항목|부분|점수)(?:의? ?점수)?`,
  ].join('|')

/** Net flow of the main money over a number of sessions; `way` is in or out. */
const flow = (n: string, words: string, way: 'in' | 'out') => {
  const [zh, ko] = way === 'in' ? ['净流入', '순유입'] : ['净流出', '순유출']
  return [
    `(?:最?近)?(?<!\\d)(?:${n})个?(?:交易)?[日天](?:累计)?主力(?:资金)?(?:累计)?${zh}`,
    `主力(?:资金)?(?:最?近)?(?:${n})个?(?:交易)?[日天](?:累计)?${zh}`,
    `(?<![\\d.])(?:${n}|${words})-(?:day|session) net ${way}flow(?: of (?:the )?main money)?`,
    `net ${way}flow(?: of (?:the )?main money)? (?:over|of|in) (?:the )?(?:last |past )?(?:${n}|${words}) (?:sessions|days)`,
    `(?<!\\d)(?:${n})(?:거래)?일(?:간)? (?:누적 )?(?:주력|메이저) ?자금(?:의)? ?${ko}`,
  ].join('|')
}
const flowOfDay = (way: 'in' | 'out') => {
  const [zh, ko] = way === 'in' ? ['净流入', '순유입'] : ['净流出', '순유출']
  return [
    `(?:当日|今日|今天)?主力(?:资金)?(?:当日|今日|今天)?${zh}(?:额)?`,
    `(?:day's |daily )?net ${way}flow(?: of (?:the )?main money)?`,
    `(?:당일 |오늘 )?(?:주력|메이저) ?자금(?:의)? ?${ko}(?:액)?`,
  ].join('|')
}

const TABLE: readonly (readonly [FactName | readonly FactName[], string])[] = [
  ['scoreTrend', part('趋势', 'trend', '추세')],
  ['scoreBias', part('乖离率?', 'bias|distance to MA5|distance', '(?:MA5 )?이격도')],
  ['scoreVolume', part('量能|成交量', 'volume', '거래량')],
  ['scoreSupport', part('(?:均线)?支撑', 'support', '(?:이동평균 )?지지')],
  ['scoreMacd', part('MACD', 'MACD', 'MACD')],
  ['scoreRsi', part('RSI', 'RSI', 'RSI')],
  [
    'chipConcentration90Pct',
    '(?:90%|九成)?(?:的)?筹码集中度|concentration of (?:the )?90 ?% of (?:the )?(?:chips|holdings)|(?:chip|90 ?%) concentration|매물(?:대)? ?(?:90% )?집중도',
  ],
  [
    'chipLow90',
    '(?:90%|九成)的?筹码区间下沿|low end of (?:the )?90 ?% of (?:the )?(?:chips|holdings)|매물(?:대)? 90% 구간 하단',
  ],
  [
    'chipHigh90',
    '(?:90%|九成)的?筹码区间上沿|high end of (?:the )?90 ?% of (?:the )?(?:chips|holdings)|매물(?:대)? 90% 구간 상단',
  ],
  [
    ['chipLow90', 'chipHigh90'],
    '(?:90%|九成)的?筹码(?:成本)?(?:区间|集中在|集中于|分布在|分布于|位于|在)?|90 ?% of (?:the )?(?:chips|holdings)|매물(?:대)? 90%(?: 구간)?|90% 매물대',
  ],
  [
    'chipProfitPct',
    '获利(?:盘|筹码)?(?:占比|比例|比率)|获利盘(?=为|是|约|占|达|\\s?\\d)|(?:share of (?:the )?)?(?:chips|holdings|shares) (?:are |is )?in profit|profitable (?:chips|holdings)|profit ratio|수익 ?(?:중인 )?물량(?:의)? ?비[율중]|이익 ?물량 ?비[율중]',
  ],
  [
    'chipCost',
    '(?:筹码|持仓)?平均(?:持仓)?成本|筹码均价|average cost(?: of (?:the )?(?:holders|chips|holdings))?|평균 ?(?:매입 ?)?(?:원가|매입가|단가|매수가)',
  ],
  ['grossMarginPct', '毛利率|gross (?:profit )?margin|매출총이익률'],
  [
    'operatingCashFlow',
    '经营(?:活动)?(?:产生的)?(?:净)?现金流(?:量)?(?:净额)?|operating cash[- ]flow|cash flow from operations|영업 ?(?:활동 ?)?현금 ?흐름',
  ],
  ['flow5', flow('5|五', 'five', 'in')],
  ['flow10', flow('10|十', 'ten', 'in')],
  ['outflow5', flow('5|五', 'five', 'out')],
  ['outflow10', flow('10|十', 'ten', 'out')],
  ['flowToday', flowOfDay('in')],
  ['outflowToday', flowOfDay('out')],
  [
    'volatility60Pct',
    `(?:annuali[sz]ed )?${sixty} (?:annuali[sz]ed )?volatility|annuali[sz]ed volatility(?:,? ?(?:over|of|for|in) (?:the )?(?:last |past )?(?:60|sixty) (?:trading )?(?:sessions|days))?|volatility (?:over|of|for|in) (?:the )?(?:last |past )?(?:60|sixty) (?:trading )?(?:sessions|days)|(?:最?近)?(?:60|六十)个?(?:交易)?日的?(?:年化)?波动率|年化波动率(?:\\(60日\\))?|(?:최근 )?60(?:거래)?일(?:간|의)? ?(?:연율화?|연환산|연간)? ?변동성|(?:연율화?|연환산|연간) 변동성(?:\\(60일\\))?`,
  ],
  [
    'drawdown250Pct',
    '(?:250-(?:day|session) )?(?:maximum|max|deepest|largest) drawdown(?: (?:over|of|in) (?:the )?(?:last |past )?250 (?:trading )?(?:sessions|days))?|250-(?:day|session) drawdown|drawdown (?:over|of|in) (?:the )?(?:last |past )?250 (?:trading )?(?:sessions|days)|(?:最?近|过去)?(?:250个?(?:交易)?日的?)?最大回撤|(?:최근 )?(?:250(?:거래)?일(?:간|의)? ?)?최대 ?낙폭',
  ],
  [
    'turnover20',
    '(?:average (?:daily )?turnover|20-(?:day|session) average turnover)(?: (?:over|of|in) (?:the )?(?:last |past )?20 (?:trading )?(?:sessions|days))?|(?:最?近)?20个?(?:交易)?日(?:日均|平均)成交额|(?:최근 )?20(?:거래)?일 평균 거래대금',
  ],
  [
    'volumeVsPrevious',
    '成交量与前一日之比|volume against the day before|전일 대비 거래량 배수|成交量(?:约|大约)?(?:是|为)前一(?:个交易)?日的|거래량(?:은|이) 전일의',
  ],
  [
    'change20Pct',
    '(?<=(?:sessions|days)(?:[^。.;]|[.](?=\\d))*)(?:over|in) the (?:past|last) (?:20|twenty)(?=[.,;]|$)',
  ],
  [
    'volumeVsPrevious',
    "(?:成交量|量能|今天的量)(?:约|大约)?(?:是|为|相当于)(?:昨[天日]|前一(?:个交易)?[日天]|上一(?:个)?交易日)的|(?<=times )(?:that of )?(?:the )?(?:previous|prior) (?:day|session)(?:'s)?(?: volume)?|(?<=times )yesterday's(?: volume)?|(?:어제|전날|전일|전 거래일)의(?= [\\d.]+배)",
  ],
  [
    'volumeRatio',
    '(?:成交量|量能|今天的量)?(?:约|大约)?(?:是|为|相当于)(?:最?近)?(?:五|5)(?:个?交易)?日(?:的)?(?:平均|均量|均值)(?:成交量|量)?的|(?<=times )(?:the |its )?(?:five|5)-(?:day|session) (?:norm|average|mean)(?: volume)?|(?:최근 )?(?:5일|5거래일) 평균(?: 거래량)?(?:의|보다|대비)',
  ],
  [
    'prevClose',
    "昨[天日]?的?收(?:盘|市)?[价在于报]?|前一(?:个)?交易日收[盘在于报]?价?|(?<!目)前(?:一(?:个交易)?日)?收(?:盘)?价?|上一(?:个)?交易日收[盘在于报]?价?|(?:previous|prior) (?:day's |session's )?close|(?:previous|prior) (?:session|day) (?:it |the (?:stock|shares?) )?(?:closed|ended|finished|stood|settled) at|(?<=\\bafter \\D{0,4}\\d[\\d.,]*\\D{0,8})the (?:session|day) before|yesterday's close|yesterday (?:it |the (?:stock|shares?) )?(?:closed|ended|finished|stood) at|(?:전일|전날|어제|전 거래일)(?:의)? 종가|어제(?:는|의)?(?=\\s[\\d,.]+\\s?(?:위안|원|달러|홍콩달러|엔))",
  ],
  ['bias5', '(?:MA5|5日)乖离率|bias to MA5|MA5 이격도(?:\\(편차\\))?'],
  ['bias10', '(?:MA10|10日)乖离率|bias to MA10|MA10 이격도(?:\\(편차\\))?'],
  ['bias20', '(?:MA20|20日)乖离率|bias to MA20|MA20 이격도(?:\\(편차\\))?'],
  [
    'position52Pct',
    '52周区间的?位置|在?52周区间(?:自下而上|中)的?位?置?|position in the 52-week range|52주 범위(?: 내|의) (?:위치|아래에서)|of the way up its 52-week range|way up its 52-week range|(?<=52(?:[^。.;]|[.](?=\\d))*%\\s?的)(?:位置|分位)|(?<=一年(?:[^。.;]|[.](?=\\d))*%\\s?的)(?:位置|分位)|(?<=52주(?:[^。.;]|[.](?=\\d))*)위치(?=[는은가이] )|of the way up(?! its)',
  ],
  [
    'belowHigh52Pct',
    '[距较]52周高[点位]的?(?:跌幅|回落)|距离?高点|distance below the 52-week high|(?:52주|1년) (?:최?고점?|최고가) 대비(?: 하락률)?|(?:off|below) its 52-week (?:high|peak)|shy of (?:its|the) (?:52-week|one-year) (?:high|peak)',
  ],
  [
    'aboveLow52Pct',
    '较52周低点的?(?:涨幅|上涨)|gain from the 52-week low|from its 52-week low|(?:52주|1년) (?:최?저점?|최저가) 대비(?: 상승률)?',
  ],
  [
    ['low52', 'high52'],
    '(?:一年|52周)的?区间(?!自|中)|(?:52周|一年)(?:价格)?区间(?!自|中)|52-week range|traded between(?=(?:[^。.;]|[.](?=\\d))*in 52 weeks)|52주 범위(?! 내|의)',
  ],
  [
    ['bollUpper', 'bollMiddle', 'bollLower'],
    '布林(?:带|线)?的?上、?中、?下轨|布林(?:带|线)?的?上轨、中轨(?:、|和|与)下轨',
  ],
  [['rsi6', 'rsi12', 'rsi24'], 'RSI\\s?\\(?6\\s?[/·、,]\\s?12\\s?[/·、,]\\s?24\\)?'],
  [
    ['k', 'd', 'j'],
    'KDJ(?!的[KDJ]|의 [KDJ]| [KDJ] )(?=[^。.\\d]{0,12}\\d+(?:\\.\\d+)?(?!\\d|\\.\\d)[^\\d]{1,6}\\d+(?:\\.\\d+)?(?!\\d|\\.\\d)[^\\d]{1,8}\\d+(?:\\.\\d+)?(?!\\d|\\.\\d))(?:的?三个?值)?|K、D、J(?:三个?值)?|K/D/J|K, D and J',
  ],
  [
    ['bollUpper', 'bollLower'],
    'Bollinger bands(?=:? [^.;a-z]*\\d(?:[^a-z]|CNY|[HU][KS]D|JPY|KRW|TWD)*above, [^a-z]*\\d(?:[^a-z]|CNY|[HU][KS]D|JPY|KRW|TWD)*below)',
  ],
  [
    ['bollLower', 'bollUpper'],
    '布林带(?!的?[上中下]轨)(?:区间)?|Bollinger bands|볼린저 밴드(?! 상단| 하단| 중심| 하| 상|[는은의] ?(?:상단|하단|중심))(?: 구간| 범위)?',
  ],
  [['target1', 'target2'], '两个目标价|target 1 ?/ ?target 2|(?:the )?two targets|두 목표가|목표가 두 개'],
  [['support', 'resistance'], '지지·저항 구간|支撑(?:与|和|、)(?:压力|阻力)区间'],
  [
    'high52',
    "(?<=\\u0001(?:'s)? )(?:high|peak)(?: of)?|一年前的高[点位]|(?:52周|一年)新高|(?:Jan|Febr)uary (?:high|peak)|(?:March|April|May|June|July|August|(?:Sept|Nov|Dec)ember|October) (?:high|peak)|(?<=52주 최저[^가-힣]*(?:위안|원|엔|홍콩달러|달러)?[, ]*)최고|(?:52周|一年)(?:的)?(?:最高价|最高点|高点|高价|最高)|(?:52-week|one-year|year's) (?:high|peak|top)|(?<=\\b(?:year|52 weeks)\\b(?:[^。.;]|[.](?=\\d))*)as high as|(?<=(?:一年|52周)(?:[^。;当盘日])*)最高(?![点位价])|(?:一年|52周)(?:以来|来|内)?的?(?:最高(?![点位价])|最高点|高点|高位)|(?:지난 |최근 )?1년의? (?:고점|최고가|최고점)|last [A-Z][a-z]+.s (?:high|peak)|(?:52주|1년)(?: 내)? (?:최고가|고점|최고)(?:보다)?",
  ],
  [
    'low52',
    "(?<=\\u0001(?:'s)? )low(?: of)?|(?<=(?:one-year|52-week)[^.;]*)its low\\b|(?:52周|一年)新低|(?:Jan|Febr)uary low|(?:March|April|May|June|July|August|(?:Sept|Nov|Dec)ember|October) low|(?:52周|一年)(?:的)?(?:最低价|最低点|低点|低价|最低)|(?:52-week|one-year|year's) (?:low|trough|bottom)|(?<=\\b(?:year|52 weeks)\\b(?:[^。.;]|[.](?=\\d))*)as low as|(?:一年|52周)(?:以来|来|内)?的?(?:最低(?![点位价])|最低点|低点|低位)|(?<=(?:一年|52周)[^。；当盘日]*)最低点?|(?:지난 |최근 )?1년의? (?:저점|최저가|최저점)|(?<=(?:1년|52주)(?:[^.;당장]|[.](?=\\d))*)저점|last [A-Z][a-z]+.s low|(?:52주|1년)(?: 내)? (?:최저가|저점|최저)(?:보다)?",
  ],
  [
    ['ma5', 'ma10', 'ma20'],
    '5-(?:day)?, 10-(?:day)? and 20-day (?:moving )?averages|(?:5日?|五日)[、,/和](?:10日?|十日)[、,/和](?:20日|二十日)(?:平?均线|线)|5일?[·,/] ?10일?[·,/] ?20일\\s?(?:이동평균선|이평선|선)',
  ],
  [
    ['ma5', 'ma10', 'ma20', 'ma60', 'ma120', 'ma250'],
    '(?:所有|全部|各条?)(?:的)?均线|all (?:of )?(?:its |the )?(?:(?:five|six) )?(?:moving )?averages|every (?:moving )?average(?: from 5 to 250 days)?|모든 (?:(?:이동)?평균선|이평선)',
  ],
  [
    'ma250',
    `(?:MA|均线)?250(?:日|天)(?=为|在|报|是)|${day('250|二百五十', 'two-hundred-and-fifty', 250)}|(?<!半)年线|the 250-day(?! (?:return|change|gain|loss|maximum|drawdown))`,
  ],
  ['ma120', `半年线|${day('120|一百二十', 'hundred-and-twenty', 120)}`],
  ['ma60', `${day('60|六十', 'sixty', 60)}|${briefly(60)}|${inBrackets(60)}`],
  ['ma20', `${day('20|二十', 'twenty', 20)}|${briefly(20)}|${inBrackets(20)}`],
  ['ma10', `${day('10|十', 'ten', 10)}|${briefly(10)}|${inBrackets(10)}`],
  ['ma5', `${day('5|五', 'five', 5)}|${briefly(5)}|${inBrackets(5)}`],
  ['rsi24', '(?<=RSI(?:[^。.;]|[.](?=\\d))*)\\bthe 24-day|RSI\\s?\\(?24\\)?|(?:24|二十四)(?:-day|日|일) ?RSI'],
  ['rsi12', '(?<=RSI(?:[^。.;]|[.](?=\\d))*)\\bthe 12-day|RSI\\s?\\(?12\\)?|(?:12|十二)(?:-day|日|일) ?RSI'],
  ['rsi6', '(?<=RSI(?:[^。.;]|[.](?=\\d))*)\\bthe 6-day|RSI\\s?\\(?6\\)?|(?:6|六)(?:-day|日|일) ?RSI'],
  [['k', 'd'], '(?<![A-Za-z])K、D(?:两线|值)?(?=[^\\d。]{0,6}\\d)'],
  [
    'k',
    '(?<![A-Za-z\\d.])K(?=\\s?[ =:]\\s?\\d)|KDJ的K值|K of KDJ|KDJ K value|KDJ의 K값|K值|(?<=KDJ(?:[^。.;]|[.](?=\\d))*)K(?=\\s?[=:])',
  ],
  [
    'd',
    '(?<![A-Za-z\\d.])D(?=\\s?[ =:]\\s?\\d)|KDJ的D值|D of KDJ|KDJ D value|KDJ의 D값|D值|(?<=KDJ(?:[^。.;]|[.](?=\\d))*)D(?=\\s?[=:]| (?:at|is|of|stands at) \\d)',
  ],
  [
    'j',
    '(?<![A-Za-z\\d.])J(?=\\s?[ =:]\\s?\\d)|KDJ的J值|J of KDJ|KDJ J value|KDJ의 J값|J值|(?<=KDJ(?:[^。.;]|[.](?=\\d))*)J(?=\\s?[=:]| (?:at|is|of|stands at) \\d)',
  ],
  ['dif', 'MACD的DIF|DIF of MACD|MACD DIF|MACD의 DIF|(?<![a-z])DIF(?![a-z])'],
  ['dea', 'MACD的DEA|DEA of MACD|MACD DEA|MACD의 DEA|(?<![a-z])DEA(?![a-z])'],
  [
    'histogram',
    'MACD柱状?值?|柱状值|MACD histogram|MACD 히스토그램|히스토그램|\\bhistogram\\b|(?:红绿|能量|红|绿)柱(?:子|体)?|柱子',
  ],
  [
    'bollUpper',
    '布林(?:带)?上轨|upper (?:Bollinger )?band|볼린저 밴드 상단|(?<=볼린저(?:[^。.;]|[.](?=\\d))*)상단(?:선)?|(?<=布林[^。]*)上轨|(?<=Bollinger(?:[^。.;]|[.](?=\\d))*)(?:the )?upper(?: one| line)?\\b(?! band)',
  ],
  [
    'bollMiddle',
    '布林(?:带)?中轨|middle (?:Bollinger )?band|볼린저 밴드 중심선|(?<=볼린저(?:[^。.;]|[.](?=\\d))*)중심(?:선)?|(?<=布林[^。]*)中轨|(?<=Bollinger(?:[^。.;]|[.](?=\\d))*)(?:the )?mid(?:dle)?(?: one| line)?\\b(?! band)',
  ],
  [
    'bollLower',
    '布林(?:带)?下轨|lower (?:Bollinger )?band|볼린저 밴드 하단|(?<=볼린저(?:[^。.;]|[.](?=\\d))*)하단(?:선)?|(?<=布林[^。]*)下轨|(?<=Bollinger(?:[^。.;]|[.](?=\\d))*)(?:the )?lower(?: one| line)?\\b(?! band)',
  ],
  [['ma5', 'ma10', 'ma20'], '(?:多头排列|空头排列)(?=\\s?\\(\\s?\\d)'],
  ['atr', 'ATR\\s?\\(?14\\)?|14日ATR|14-day ATR|14일 ATR|\\bATR\\b'],
  ['change250Pct', span('250|二百五十', '(?:two-hundred-and-fifty|two hundred and fifty)')],
  ['change5Pct', `${span('5|五', 'five')}|${loose('5|五', 'five')}`],
  ['change20Pct', `近一个月\\(20个交易日\\)|${span('20|二十', 'twenty')}|${loose('20|二十', 'twenty')}`],
  ['change60Pct', `${span('60|六十', 'sixty')}|${loose('60|六十', 'sixty')}`],
  ['turnoverRatePct', '换手率?|turnover rate|회전율|of the (?:free )?float'],
  ['volumeRatio', '量比|volume ratio|거래량 비율'],
  [
    'amount',
    '成交额|成交(?=(?:了|约|达)?\\s?[\\d.,]+[万亿]*\\s?(?:元|港元|美元|韩元|日元))|turnover value|거래대금|(?<=(?:million|billion|trillion)(?: yuan| won| yen)? )in value|\\bturnover\\b',
  ],
  ['changePct', "(?:当日|今日)涨?跌?幅|day's percentage change|당일 등락률"],
  ['change', '涨跌额|change on the day|전일 대비 등락액|涨跌(?=\\s?[+-])|\\bchange(?= [+-])|등락(?= [+-])'],
  [
    'amplitudePct',
    "(?:当日|日内|盘中|全天)?振幅|day's (?:amplitude|swing)|swing of the day|intraday swing|(?:당일 |하루 |일중 )?(?:진폭|변동폭)|\\bamplitude\\b",
  ],
  [
    'marketCap',
    '总?市值|valued at|market assigns it|worth(?= [^.]*(?:billion|trillion))|market (?:capitalisation|capitalization|cap|value)|시가총액',
  ],
  [
    ['low', 'high'],
    "(?:盘中|当日)(?:波动)?区间|(?:day's|session's|session|intraday) range|(?:swung|swinging|moved|moving|ranged|oscillated|fluctuated|seesawed) between|장중 범위|日内区间|(?:盘中|日内|全天)在(?=[^，。]*(?:之间|间))|当日在|trad(?:ed|ing) between|당일(?= [^ ]*\\d[^ ]*~)|(?<=\\d[^ ]* ?(?:에서|부터|~) ?[\\d,.]+[^ ]* )사이(?=를? ?(?:오[가갔]|움직))",
  ],
  [
    'open',
    '(?:今日)?开盘价|(?:今[天日])?开(?:盘|于|在)?(?=\\s?[\\d¥一二三四五六七八九])|(?:早盘|开盘)[以报在于的](?=\\s?\\d)|(?:start(?:ed|ing)|begun|began|opening) at|에 (?:출발|개장|시작)(?=[해하했])|opening price|\\bopen\\b(?: of)?|\\bopened at|시초가|시가(?!총)',
  ],
  [
    'high',
    "(?:当日|盘中|全天)?最高价?(?:摸到|到|至|为|价)?(?=\\s?[\\d¥一二三四五六七八九])|(?<=장중[^.]*\\d[^ ]{0,5}까지 )(?:올랐|오르|치솟)|(?:当日|盘中)最高价?(?:摸到)?|最高价(?=是|:)|最高(?:触及|上探|见|探至|冲至)(?=\\s?\\d)|(?<!(?:week|year|52)(?:[^。.;]|[.](?=\\d))*)\\b(?:a )?high of|(?:day's|session) high|the high of the (?:day|session)|(?:topped out|peaked) at|(?:당일|장중) 고가|고가",
  ],
  [
    'low',
    "(?:当日|盘中|全天)?(?:一度)?下探(?:至|到)?(?=\\s?[\\d¥])|(?:当日|盘中|全天)?最低价?(?:到|至|为|价)?(?=\\s?[\\d¥一二三四五六七八九])|(?<=장중[^.]*\\d[^ ]{0,5}까지 )(?:밀렸|밀리|내려|떨어)|(?:当日|盘中)最低价?|最低价(?=是|:)|最低(?:触及|下探|见|探至)(?=\\s?\\d)|(?<!(?:week|year|52)(?:[^。.;]|[.](?=\\d))*)\\b(?:a )?low of|(?:day's|session) low|the low of the (?:day|session)|(?:dipped|bottomed(?: out)?) (?:to|at)|(?:당일|장중) 저가|저가",
  ],
  ['volume', '成交量|trading volume|\\bvolume\\b|거래량'],
  [
    'pe',
    '市盈率|price-earnings ratio|P/E(?: ratio)?|\\bPE(?![a-z])|(?<![a-z])PER(?![a-z]|\\s[a-z])|주가수익비율|(?<=(?:times|x) )(?:trailing )?earnings',
  ],
  [
    'pb',
    '市净率|price-to-book ratio|P/B(?: ratio)?|\\bPB(?!R)(?![a-z])|PBR|주가순자산비율|(?<=(?:times|x) )book|book multiple|(?:below|above|under) (?:its )?book(?= \\()',
  ],
  [
    'eps',
    '每股收益|\\bEPS|earnings per share|每股盈利|每股净利润?|주당순이익|주당(?=\\s?-?\\d)|(?:a|per) share(?= (?:of )?earnings)',
  ],
  ['roePct', 'ROE|净资产回报率|净资产收益率|return on equity|자기자본이익률'],
  [
    'debtRatioPct',
    'indebted(?= \\()|资产?负债率|负债率|debt ratio|debt-to-assets(?: ratio)?|(?:debt|liabilities)(?= (?:makes? up|is|are|equals?|stands? at|amounts? to))|부채비율',
  ],
  ['dividendYieldPct', '股息率|dividend yield|배당수익률|(?<=[%\\d] )yield|\\byields?(?= (?:of )?\\d)'],
  [
    'profitGrowthPct',
    '(?:归母)?净利润?(?:同比)?(?:增速)?|(?<!营业|毛)利润(?!率)|순익(?: 증가율)?|net (?:profit|income)(?: growth)?|(?<!\\b(?:takes?|taking) )\\b(?:profits?|earnings)(?: growth)?(?![- ](?:per|taking|ratio))|순이익(?: 증가율)?',
  ],
  [
    'revenueGrowthPct',
    '(?:营收|营业收入|(?<!净|净利息)收入)(?:同比)?(?:增速)?|revenues?(?: growth)?|\\bsales(?: growth)?\\b|매출(?: 증가율)?',
  ],
  ['score', '综合评分|评分|分数|打分|得分|overall score|\\bscore[sd]\\b|\\bscore\\b|종합 점수|점수'],
  ['support', '支撑[位线]?|\\bsupport(?: level)?|지지선'],
  ['resistance', '压力位?|阻力位?|\\bresistance(?: level)?|저항선|저항(?=[은이] )'],
  [
    'stop',
    '(?<=跌破\\s?[\\d.]+(?:元|港元|美元|日元|韩元))(?:则|就|便)?(?:离场|止损|清仓)|\\b(?:bail|get)s? out(?= at)|止损[位价]?|\\bstop(?:[- ]loss)?\\b|stops? out|손절[가선]?',
  ],
  [
    'idealBuy',
    '(?<=\\d\\s?(?:元|港元|美元|韩元|日元)(?:附近)?的)买点|理想买[点入]价?|ideal (?:entry|buy)(?: level)?|이상적 매수가?|(?<=- )entry|\\b(?:enter(?:s|ing)?|entry|buy(?:s|ing)?)(?= (?:at|near|around|close to) \\D{0,4}\\d)|(?<=\\d\\s?(?:元|港元|美元|韩元|日元))(?:处|附近|左右)?(?:买入|介入|进场|建仓)|(?<=\\d\\s?(?:위안|달러|원|홍콩달러|엔)(?:에서?)? (?:부근|근처|안팎)?(?:에서)? ?)(?:매수|진입)(?=[,·와하 ])',
  ],
  ['secondaryBuy', '次优买点|second entry|secondary buy(?: level)?|차선 매수가'],
  ['target2', '第二目标价?|second target|target 2|2차 목표가?'],
  [
    'target1',
    '第一目标价?|目标[价位]|first target|target 1|1차 목표가?|목표가|\\btarget\\b(?! of (?!\\u0001|\\D{0,4}\\d))|takes? profits?|止盈[位价]?|익절[가]?',
  ],
  [
    'rewardRisk',
    '\\brisk/reward(?: math| ratio)?|\\breward/risk|盈亏比|风险收益比|风险与回报之?比?|risk[- ]to[- ]reward(?: ratio)?|reward[- ]to[- ]risk(?: ratio)?|손익비|위험 대비 보상|R:R|the plan offers',
  ],
  [
    'price',
    "收[盘市]价|最新价|现价|市价|股价|今[天日]收|(?:最后|最终)?收[在于报盘]?(?=\\s?[\\d¥A-Z一二三四五六七八九])|left (?:\\u0001+|it|the (?:stock|shares?)) at|\\bpaying\\b|收盘的(?=\\s?\\d)|(?:报收|该股报|尾盘报|现报|定格)[于在]?|today(?:'s)?(?: it)? (?:is|closed|stands|trades|ended) at|(?:settl|trad|clos|end|finish)ing at|(?:settled|trades?|finished|changes hands|quoted) at|(?:stock|shares?)(?: itself| now| (?:is|are)| trades?| currently| were| was)* at(?= )|(?<=\\d[^,.;]{0,8} )at the (?:close|bell)|by the (?:end|close)|오늘은(?=\\s[\\d,.]+\\s?(?:위안|원|달러|홍콩달러|엔))|(?<=\\d[^ ]{0,6})에 (?:장을|거래를)? ?(?:마쳤|마감|끝냈|마친|마치)|last price|closing price|current price|the close\\b|the price\\b|\\bclosed at|현재가|종가|주가",
  ],
]

// Where a text names a fact.

export type Mention = {
  readonly kind: 'mention'
  readonly facts: readonly FactName[]
  readonly at: number
  readonly end: number
}

const RULES = TABLE.map(([facts, pattern]) => ({
  facts: typeof facts === 'string' ? [facts] : facts,
  pattern: new RegExp(pattern, 'gi'),
}))

/** Every position of a text that names a fact, in order. */
export function mentionsIn(text: string): Mention[] {
  const found: Mention[] = []
  for (const { facts, pattern } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const [at, end] = [match.index, match.index + match[0].length]
      if (end > at && !found.some((other) => at < other.end && other.at < end))
        found.push({ kind: 'mention', facts, at, end })
    }
  }
  found.sort((a, b) => a.at - b.at)
  // 주당순이익(EPS): a second name in brackets is not a second fact.
  return found.filter(
    ({ at, facts }, i) =>
      i === 0 || `${found[i - 1]?.facts}` !== `${facts}` || !/^\s?[(（]$/.test(text.slice(found[i - 1]?.end, at)),
  )
}
