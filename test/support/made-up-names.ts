// Names that are in no list: invented ones in the style of every market and script, and real companies that are not listed.

import { pick, type Random } from './name-errors.ts'

/** Companies that exist and whose shares cannot be bought on an exchange, as far as the lists know. */
export const REAL_BUT_NOT_LISTED = [
  '宇树科技',
  '字节跳动',
  '抖音集团',
  '华为技术',
  '华为',
  '蚂蚁集团',
  '大疆创新',
  '米哈游',
  '小红书',
  '菜鸟网络',
  '元气森林',
  '老干妈',
  '娃哈哈',
  '希音',
  '荣耀终端',
  '深度求索',
  '月之暗面',
  '智元机器人',
  '银河通用',
  '长江存储',
  '商飞',
  '中国烟草',
  '国家电网',
  '网商银行',
  'SpaceX',
  'OpenAI',
  'Anthropic',
  'ByteDance',
  'Huawei',
  'DeepSeek',
  'xAI Corp',
  'Stripe Inc.',
  'Databricks',
  'Epic Games',
  'IKEA Group',
  'Lego Group',
  'Cargill',
  'Koch Industries',
  'Bosch GmbH',
  'Rolex SA',
  'Unitree',
  'Unitree Robotics',
  'Ant Group',
  'Moonshot AI',
  'SHEIN',
  'Perplexity',
  'Mistral AI',
  'Waymo LLC',
  'Neuralink',
  'Telegram',
  '비바리퍼블리카',
  '무신사',
  '야놀자',
  '두나무',
  '빗썸',
  '당근마켓',
  '업비트',
  'サントリーホールディングス',
  'ヨドバシカメラ',
  '竹中工務店',
  'ヤンマー',
  '株式会社ロッテ',
  '日本生命保険',
  '読売新聞',
  '聯發紡織國際',
  '長榮集團總部',
] as const

const ZH = {
  places: [
    '江南',
    '关东',
    '塞北',
    '北冥',
    '云梦',
    '昆吾',
    '蓬莱',
    '瀛洲',
    '潇湘',
    '蜀中',
    '辽西',
    '岭北',
    '秦川',
    '陇西',
    '漠河',
    '琼海',
  ],
  heads: [...'宇瀚璟曜翎霁骁琅沐钧昱霖睿晟祺灏珩峥铄熠'],
  tails: [...'树跃澜川曦岚骋野禾砚屿昙汐衡弈临尧峤彧湛'],
  trades: [
    '科技',
    '股份',
    '集团',
    '电子',
    '机器人',
    '能源',
    '药业',
    '银行',
    '证券',
    '智能',
    '材料',
    '生物',
    '航空',
    '食品',
    '汽车',
    '环保',
  ],
}
const LATIN = {
  onsets: ['br', 'cr', 'dr', 'fl', 'gl', 'k', 'l', 'm', 'n', 'p', 'qu', 'r', 's', 'sk', 't', 'tr', 'v', 'z'],
  vowels: ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'io', 'y'],
  codas: ['', 'n', 'r', 'l', 'x', 'nt', 'rk', 'st', 'm', 'sh'],
  forms: [
    '',
    '',
    '',
    ' Inc.',
    ' Corp',
    ' Holdings',
    ' Group',
    ' Technologies',
    ' Ltd',
    ' PLC',
    ' & Co',
    ', Inc.',
    ' AG',
  ],
}
const HANGUL = [...'가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호산성전케']
const KATAKANA = [...'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン']
const OTHERS = [
  'Яндра',
  'Газмаш',
  'Σίδερον',
  'القمةون',
  'หุ้นลับ',
  'भारतीका',
  'Ünlüçelik',
  'Société Brumée',
  'Ğalıpşar',
  'Łódzkostal',
]

const word = (random: Random, syllables: number): string => {
  const parts = Array.from({ length: syllables }, () => {
    return pick(random, LATIN.onsets) + pick(random, LATIN.vowels) + pick(random, LATIN.codas)
  })
  const text = parts.join('')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
const run = (random: Random, characters: readonly string[], length: number): string =>
  Array.from({ length }, () => pick(random, characters)).join('')
const digits = (random: Random, length: number): string => run(random, [...'0123456789'], length)

type Style = (random: Random) => string
const chinese: Style = (random) => pick(random, ZH.heads) + pick(random, ZH.tails) + pick(random, ZH.trades)
const STYLES: Style[] = [
  chinese,
  (random) => pick(random, ZH.places) + chinese(random),
  (random) => pick(random, ZH.places) + pick(random, ZH.trades),
  (random) => `${chinese(random)}(${pick(random, ZH.places)})`,
  (random) => `*ST${pick(random, ZH.heads)}${pick(random, ZH.tails)}`,
  (random) => `${pick(random, ZH.heads)}${pick(random, ZH.tails)}${pick(random, ZH.trades)}-W`,
  (random) => word(random, 3) + pick(random, LATIN.forms),
  (random) => `${word(random, 2)} ${word(random, 2)}${pick(random, LATIN.forms)}`,
  (random) => word(random, 4).toUpperCase(),
  (random) => `${word(random, 2).toLowerCase()}-${word(random, 2).toLowerCase()}`,
  (random) => run(random, [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'], 6 + random(3)),
  (random) => run(random, [...'QXZJKVW'], 3 + random(3)),
  (random) => `${word(random, 2)}${digits(random, 3)}`,
  (random) => `${chinese(random)}${digits(random, 2)}`,
  (random) =>
    ['zhao', 'qiong', 'xue', 'lüe', 'zhuang', 'bin'][random(6)] +
    word(random, 1).toLowerCase() +
    pick(random, ['keji', 'gufen', 'jituan']),
  (random) => run(random, HANGUL, 3 + random(4)),
  (random) => `${run(random, HANGUL, 3)}${pick(random, ['전자', '화학', '바이오', '홀딩스', '증권'])}`,
  (random) => `(주)${run(random, HANGUL, 4)}`,
  (random) => run(random, KATAKANA, 4 + random(4)),
  (random) => `株式会社${run(random, KATAKANA, 4)}`,
  (random) => `${run(random, KATAKANA, 4)}${pick(random, ['製作所', '自動車', '銀行', '電機'])}`,
  (random) => pick(random, OTHERS) + pick(random, OTHERS).toLowerCase(),
  (random) => `${word(random, 3)} 🚀`,
  (random) => ` ${[...word(random, 3)].map((letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join('')} `,
]

/** This number of names, equally many in every style, none of them a name of a listing. */
export function madeUpNames(random: Random, count: number, isTaken: (name: string) => boolean): string[] {
  const names = new Set<string>()
  for (let i = 0; names.size < count; i++) {
    const name = STYLES[i % STYLES.length]?.(random) ?? ''
    if (!isTaken(name)) names.add(name)
  }
  return [...names]
}
