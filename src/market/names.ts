// The listings that are known by name. Every instrument of the bundled sample is here, with the
// neighbours that share a name or a number with one of them, so that what is ambiguous is seen to be.

export type Listing = {
  /** The instrument's key; `parseCode` reads it back. */
  key: string
  zh: string
  en: string
  /** Full pinyin and pinyin initials of the Chinese name, lower case; empty where nobody types them. */
  pinyin: string
  initials: string
  aliases: string[]
}

type Row = [key: string, zh: string, en: string, pinyin: string, initials: string, ...aliases: string[]]

const ROWS: Row[] = [
  ['600519', '贵州茅台', 'Kweichow Moutai', 'guizhoumaotai', 'gzmt', '茅台', '茅台股份', 'Moutai'],
  ['300750', '宁德时代', 'Contemporary Amperex Technology', 'ningdeshidai', 'ndsd', '宁王', 'CATL'],
  ['600000', '浦发银行', 'Shanghai Pudong Development Bank', 'pufayinhang', 'pfyh', '浦发', '上海浦东发展银行', 'SPDB'],
  ['000001', '平安银行', 'Ping An Bank', 'pinganyinhang', 'payh', '深发展'],
  ['000151', '中成股份', 'China National Complete Plant Import and Export', 'zhongchenggufen', 'zcgf', 'COMPLANT'],
  ['SH000001', '上证指数', 'SSE Composite Index', 'shangzhengzhishu', 'szzs', '上证综指', '上证综合指数', '沪指'],
  ['SZ399001', '深证成指', 'SZSE Component Index', 'shenzhengchengzhi', 'szcz', '深成指', '深证成份指数'],
  ['SH000300', '沪深300', 'CSI 300 Index', 'hushen300', 'hs300', '沪深三百'],
  ['HK00700', '腾讯控股', 'Tencent Holdings', 'tengxunkonggu', 'txkg', '腾讯', 'Tencent'],
  ['HK09988', '阿里巴巴-W', 'Alibaba Group Holding', 'alibaba', 'albb', '阿里巴巴', '阿里'],
  ['HK00005', '汇丰控股', 'HSBC Holdings', 'huifengkonggu', 'hfkg', '汇丰'],
  ['HK00388', '香港交易所', 'Hong Kong Exchanges and Clearing', 'xianggangjiaoyisuo', 'xgjys', '港交所', 'HKEX'],
  ['HK03690', '美团-W', 'Meituan', 'meituan', 'mtw', '美团'],
  ['HSI', '恒生指数', 'Hang Seng Index', 'hengshengzhishu', 'hszs', '恒指'],
  ['HSTECH', '恒生科技指数', 'Hang Seng TECH Index', 'hengshengkejizhishu', 'hskjzs', '恒生科技'],
  ['HSCEI', '恒生中国企业指数', 'Hang Seng China Enterprises Index', 'hengshengzhongguoqiyezhishu', 'hszgqyzs', '国企指数'],
  ['AAPL', '苹果', 'Apple', 'pingguo', '', '苹果公司'],
  ['MSFT', '微软', 'Microsoft', 'weiruan', '', '微软公司'],
  ['NVDA', '英伟达', 'NVIDIA', 'yingweida', '', '辉达'],
  ['TSLA', '特斯拉', 'Tesla', 'tesila', '', '特斯拉汽车'],
  ['AMZN', '亚马逊', 'Amazon', 'yamaxun', ''],
  ['GOOGL', '谷歌', 'Alphabet', 'guge', '', 'Google'],
  ['BABA', '阿里巴巴', 'Alibaba Group Holding ADR', 'alibaba', ''],
  ['SPX', '标普500', 'S&P 500', 'biaopu500', '', '标准普尔500', '标普五百'],
  ['DJI', '道琼斯', 'Dow Jones Industrial Average', 'daoqiongsi', '', '道指', '道琼斯工业指数'],
  ['IXIC', '纳斯达克', 'Nasdaq Composite', 'nasidake', '', '纳指', '纳斯达克综合指数'],
  ['7203.T', '丰田汽车', 'Toyota Motor', 'fengtianqiche', '', '丰田', 'Toyota'],
  ['6758.T', '索尼集团', 'Sony Group', 'suonijituan', '', '索尼', 'Sony'],
  ['2330.T', 'Forside', 'Forside', '', ''],
  ['3690.T', 'YRGLM', 'YRGLM', '', ''],
  ['2330.TW', '台积电', 'Taiwan Semiconductor Manufacturing', 'taijidian', '', '台湾积体电路'],
  ['005930.KS', '三星电子', 'Samsung Electronics', 'sanxingdianzi', '', '三星', 'Samsung'],
]

export const LISTINGS: Listing[] = ROWS.map(([key, zh, en, pinyin, initials, ...aliases]) => ({
  key,
  zh,
  en,
  pinyin,
  initials,
  aliases,
}))

// Tickers that win over initials: without them `mt` or `pdd` would be read as somebody's pinyin.
const US_TICKERS = `
A AA AAL AAPL ABBV ABNB ABT ACN ADBE ADI ADM ADP ADSK AEP AFL AIG AMAT AMD AMGN AMT AMZN ANET AON APD APP ARM ASML AVGO AXP AZN
BA BABA BAC BAX BBY BDX BEN BEKE BIDU BIIB BILI BK BKNG BLK BMY BP BSX BUD BX C CAH CAT CB CCL CDNS CEG CHTR CI CL CMCSA CME CMG
COF COIN COP COST CPRT CRM CRWD CSCO CSX CTAS CVS CVX D DAL DASH DD DDOG DE DELL DHR DIA DIS DLR DOW DUK DVN E EA EBAY ECL EDU EL EMR
ENPH EOG EQIX ETN ETSY EW EXC F FCX FDX FSLR FTNT FUTU GD GE GEHC GEV GILD GIS GLD GM GME GOOG GOOGL GS GSK H HAL HD HON HOOD HPQ HSBC
HSY HUM IBM ICE INTC INTU ISRG IVV IWM JD JNJ JPM K KHC KKR KLAC KMB KO KR LCID LI LIN LLY LMT LOW LRCX LULU LUV LVS M MA MAR MARA
MCD MCHP MCK MCO MDB MDLZ MDT MELI MET META MMM MNST MO MPC MRK MRNA MRVL MS MSCI MSFT MSTR MT MTB MU NEE NEM NET NFLX NIO NKE NOC
NOW NSC NTES NTRS NUE NVDA NVO NVS NXPI O OKE OKTA ON ORCL ORLY OXY PANW PATH PDD PEP PFE PG PGR PH PINS PLTR PM PNC PRU PSX PYPL Q
QCOM QQQ RACE RBLX RCL REGN RIVN RIO ROKU ROP ROST RTX S SAP SBUX SCHW SE SHEL SHOP SHW SLB SMCI SNAP SNOW SNPS SO SOFI SONY SPG SPGI SPOT
SPY SQQQ SYK SYY T TCOM TEAM TGT TJX TLT TM TME TMO TMUS TQQQ TRV TSLA TSM TT TTD TTWO TWLO TXN U UAL UBER UL UNH UNP UPS USB V VALE
VIPS VLO VOO VRTX VTI VZ W WBA WB WBD WDAY WDC WFC WM WMB WMT X XLE XLF XLK XOM XPEV Y YUM YUMC Z ZM ZS ZTO ZTS
`

let usTickers: Set<string> | null = null

export function isKnownUsTicker(ticker: string): boolean {
  usTickers ??= new Set(US_TICKERS.trim().split(/\s+/))
  return usTickers.has(ticker)
}
