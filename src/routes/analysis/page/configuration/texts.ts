// The texts of the configuration document about its keys and about errors in new values, in the caller's language. The
// page has its own Chinese names for the keys of its own service; it takes the other names from here.

import type { CallerLanguage } from '../../../../http/caller-language.ts'

export type ConfigTexts = {
  unknownKey: string
  readOnly: (title: string, description: string) => string
  trueOrFalse: string
  times: string
  timesUnfit: string
  noTime: string
  noStock: string
  zone: string
  address: string
  topic: string
  oneEntry: string
  oneKey: string
  oneAddress: string
  oneModel: (name: string) => string
  noHeaders: string
  noSwitch: string
  fullList: (most: number) => string
  needed: string
  unfit: string
}

export const CONFIGURATION_TEXTS: Readonly<Record<CallerLanguage, ConfigTexts>> = {
  zh: {
    unknownKey: '这里没有此设置',
    readOnly: (title, description) => `${title}：${description}，不能在此修改`,
    trueOrFalse: '请填写 true 或 false',
    times: '请填写 18:00 这样的时间',
    timesUnfit: '这些时间不可用',
    noTime: '自动分析自选股需要一个时间',
    noStock: '自选列表为空：请先添加一只股票',
    zone: '请填写 IANA 时区，例如 Asia/Shanghai',
    address: '请填写以 https:// 开头的地址',
    topic: '请填写带主题的地址',
    oneEntry: '只保存一个模型渠道：请只写一个名称',
    oneKey: '只保存一个密钥，不接受密钥列表',
    oneAddress: '只保存一个地址：更多地址请另建通知渠道',
    oneModel: (name) => `只保存一个模型：${name}`,
    noHeaders: '不会发送额外的请求头',
    noSwitch: '如需停用，请删除该渠道',
    fullList: (most) => `一个自选列表最多 ${most} 只股票`,
    needed: '此项也需要填写',
    unfit: '格式不正确',
  },
  en: {
    unknownKey: 'There is no such setting here',
    readOnly: (title, description) => `${title}: ${description}; it cannot be changed here`,
    trueOrFalse: 'true or false is wanted',
    times: 'Times such as 18:00 are wanted',
    timesUnfit: 'The times do not fit',
    noTime: 'A time is needed to analyse the watchlist by itself',
    noStock: 'Add a stock first: the watchlist is empty',
    zone: 'An IANA zone such as Asia/Shanghai is wanted',
    address: 'An address that begins with https:// is wanted',
    topic: 'An address with a topic is wanted',
    oneEntry: 'One model entry is kept: name one',
    oneKey: 'One key is kept, so a list of keys is not taken',
    oneAddress: 'One address is kept: use further channels of yours',
    oneModel: (name) => `One model is kept: ${name}`,
    noHeaders: 'Further headers are not sent',
    noSwitch: 'Remove the entry to stop its use',
    fullList: (most) => `A watchlist holds at most ${most} stocks`,
    needed: 'This is needed as well',
    unfit: 'It does not fit',
  },
  ko: {
    unknownKey: '여기에 없는 설정입니다',
    readOnly: (title, description) => `${title}: ${description}. 여기서 바꿀 수 없습니다`,
    trueOrFalse: 'true 또는 false를 입력하세요',
    times: '18:00과 같은 시각을 입력하세요',
    timesUnfit: '사용할 수 없는 시각입니다',
    noTime: '관심 목록을 자동으로 분석하려면 시각이 필요합니다',
    noStock: '관심 목록이 비어 있습니다. 먼저 종목을 추가하세요',
    zone: 'Asia/Shanghai와 같은 IANA 시간대를 입력하세요',
    address: 'https://로 시작하는 주소를 입력하세요',
    topic: '주제가 있는 주소를 입력하세요',
    oneEntry: '모델 항목은 하나만 저장합니다. 이름을 하나만 적으세요',
    oneKey: '키는 하나만 저장하므로 목록은 받지 않습니다',
    oneAddress: '주소는 하나만 저장합니다. 더 필요하면 알림 채널을 추가하세요',
    oneModel: (name) => `모델은 하나만 저장합니다: ${name}`,
    noHeaders: '추가 헤더는 보내지 않습니다',
    noSwitch: '사용을 멈추려면 항목을 지우세요',
    fullList: (most) => `관심 목록 하나에는 최대 ${most}개 종목을 담을 수 있습니다`,
    needed: '이 항목도 필요합니다',
    unfit: '형식이 맞지 않습니다',
  },
}

export const configTexts = (language: CallerLanguage): ConfigTexts => CONFIGURATION_TEXTS[language]

type Named = { key: string; title: string; description: string }

const OPERATOR = '由运营者设置'

/** Title and description of a key; the field's own texts are English. */
const ZH_FIELDS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  STOCK_LIST: ['自选股', '默认自选列表中的股票，用逗号分隔'],
  REPORT_LANGUAGE: ['未指定语言时的报告语言', OPERATOR],
  LLM_CHANNELS: ['模型渠道', '只保存一个，即您设置中的模型，名称为 main'],
  LLM_MAIN_PROTOCOL: ['模型服务商', '模型名称中斜杠之前的部分：openai、anthropic、gemini、deepseek、ollama 等'],
  LLM_MAIN_BASE_URL: ['模型地址', '自有服务器的地址；留空则使用服务商的地址'],
  LLM_MAIN_API_KEY: ['模型密钥', '服务商的密钥'],
  LLM_MAIN_API_KEYS: ['模型密钥列表', '只保存一个密钥：请使用单个密钥的字段'],
  LLM_MAIN_MODELS: ['模型名称', '不含服务商的模型名称'],
  LLM_MAIN_EXTRA_HEADERS: ['额外请求头', '不使用'],
  LLM_MAIN_ENABLED: ['启用', '存在的渠道即为启用'],
  LITELLM_MODEL: ['使用中的模型', '服务商/模型，与您的设置一致；留空则使用运营者的模型'],
  AGENT_LITELLM_MODEL: ['问股模型', '提问由使用中的模型回答'],
  LITELLM_FALLBACK_MODELS: ['备用模型', '备用模型由运营者设置'],
  VISION_MODEL: ['识图模型', '图片由使用中的模型识别'],
  LLM_TEMPERATURE: ['采样温度', '采样温度由服务商决定'],
  WECHAT_WEBHOOK_URL: ['企业微信 Webhook', '企业微信渠道'],
  FEISHU_WEBHOOK_URL: ['飞书 Webhook', '飞书渠道'],
  FEISHU_WEBHOOK_SECRET: ['飞书签名密钥', '飞书渠道'],
  TELEGRAM_BOT_TOKEN: ['Telegram 机器人令牌', 'Telegram 渠道'],
  TELEGRAM_CHAT_ID: ['Telegram 会话', 'Telegram 渠道'],
  DISCORD_WEBHOOK_URL: ['Discord Webhook', 'Discord 渠道'],
  SLACK_WEBHOOK_URL: ['Slack Webhook', 'Slack 渠道'],
  PUSHOVER_USER_KEY: ['Pushover 用户', 'Pushover 渠道'],
  PUSHOVER_API_TOKEN: ['Pushover 令牌', 'Pushover 渠道'],
  NTFY_URL: ['ntfy 地址', '包含主题：https://ntfy.sh/my-topic'],
  NTFY_TOKEN: ['ntfy 令牌', 'ntfy 渠道'],
  GOTIFY_URL: ['Gotify 地址', 'Gotify 渠道'],
  GOTIFY_TOKEN: ['Gotify 令牌', 'Gotify 渠道'],
  PUSHPLUS_TOKEN: ['PushPlus 令牌', 'PushPlus 渠道'],
  PUSHPLUS_TOPIC: ['PushPlus 群组', 'PushPlus 渠道'],
  SERVERCHAN3_SENDKEY: ['Server酱密钥', 'Server酱渠道'],
  CUSTOM_WEBHOOK_URLS: ['自有 Webhook', '一个地址'],
  CUSTOM_WEBHOOK_BEARER_TOKEN: ['自有 Webhook 的令牌', 'Webhook 渠道'],
  SCHEDULE_ENABLED: ['自动分析自选股', '在交易日的下列时间'],
  SCHEDULE_TIMES: ['时间', '例如 09:00,18:00'],
  SCHEDULE_TIME: ['时间', '第一个时间'],
  SCHEDULE_TIMEZONE: ['时区', 'IANA 时区，例如 Asia/Shanghai'],
  MARKET_REVIEW_REGION: ['未指定市场时的复盘市场', OPERATOR],
  MARKET_REVIEW_COLOR_SCHEME: ['涨跌颜色', OPERATOR],
  ALPHASIFT_ENABLED: ['选股', '页面是否显示'],
  AGENT_CONTEXT_COMPRESSION_ENABLED: ['压缩长对话', '是否为模型总结较长的对话'],
}

const KO_OPERATOR = '운영자가 정합니다'

const KO_FIELDS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  STOCK_LIST: ['관심 종목', '기본 관심 목록의 종목, 쉼표로 구분'],
  REPORT_LANGUAGE: ['언어를 정하지 않은 보고서의 언어', KO_OPERATOR],
  LLM_CHANNELS: ['모델 항목', '하나만 저장합니다. 설정의 모델이며 이름은 main입니다'],
  LLM_MAIN_PROTOCOL: ['모델 제공자', '모델 이름에서 슬래시 앞부분: openai, anthropic, gemini, deepseek, ollama 등'],
  LLM_MAIN_BASE_URL: ['모델 주소', '자체 서버의 주소. 비우면 제공자의 주소를 씁니다'],
  LLM_MAIN_API_KEY: ['모델 키', '제공자의 키'],
  LLM_MAIN_API_KEYS: ['모델 키 목록', '키는 하나만 저장합니다. 단일 키 항목을 쓰세요'],
  LLM_MAIN_MODELS: ['모델 이름', '제공자를 뺀 모델 이름'],
  LLM_MAIN_EXTRA_HEADERS: ['추가 헤더', '사용하지 않습니다'],
  LLM_MAIN_ENABLED: ['사용', '있는 항목은 사용됩니다'],
  LITELLM_MODEL: ['사용 중인 모델', '설정과 같은 제공자/모델. 비우면 운영자의 모델을 씁니다'],
  AGENT_LITELLM_MODEL: ['질문용 모델', '질문에는 사용 중인 모델이 답합니다'],
  LITELLM_FALLBACK_MODELS: ['예비 모델', '예비 모델은 운영자가 정합니다'],
  VISION_MODEL: ['그림용 모델', '그림은 사용 중인 모델이 읽습니다'],
  LLM_TEMPERATURE: ['온도', '온도는 제공자의 값을 따릅니다'],
  WECHAT_WEBHOOK_URL: ['WeCom 웹훅', 'WeCom 채널'],
  FEISHU_WEBHOOK_URL: ['Feishu 웹훅', 'Feishu 채널'],
  FEISHU_WEBHOOK_SECRET: ['Feishu 서명 키', 'Feishu 채널'],
  TELEGRAM_BOT_TOKEN: ['Telegram 봇 토큰', 'Telegram 채널'],
  TELEGRAM_CHAT_ID: ['Telegram 대화방', 'Telegram 채널'],
  DISCORD_WEBHOOK_URL: ['Discord 웹훅', 'Discord 채널'],
  SLACK_WEBHOOK_URL: ['Slack 웹훅', 'Slack 채널'],
  PUSHOVER_USER_KEY: ['Pushover 사용자', 'Pushover 채널'],
  PUSHOVER_API_TOKEN: ['Pushover 토큰', 'Pushover 채널'],
  NTFY_URL: ['ntfy 주소', '주제를 포함: https://ntfy.sh/my-topic'],
  NTFY_TOKEN: ['ntfy 토큰', 'ntfy 채널'],
  GOTIFY_URL: ['Gotify 주소', 'Gotify 채널'],
  GOTIFY_TOKEN: ['Gotify 토큰', 'Gotify 채널'],
  PUSHPLUS_TOKEN: ['PushPlus 토큰', 'PushPlus 채널'],
  PUSHPLUS_TOPIC: ['PushPlus 그룹', 'PushPlus 채널'],
  SERVERCHAN3_SENDKEY: ['ServerChan 키', 'ServerChan 채널'],
  CUSTOM_WEBHOOK_URLS: ['자체 웹훅', '주소 하나'],
  CUSTOM_WEBHOOK_BEARER_TOKEN: ['자체 웹훅의 토큰', '웹훅 채널'],
  SCHEDULE_ENABLED: ['관심 목록 자동 분석', '거래일의 아래 시각에'],
  SCHEDULE_TIMES: ['시각', '예: 09:00,18:00'],
  SCHEDULE_TIME: ['시각', '첫 번째 시각'],
  SCHEDULE_TIMEZONE: ['시간대', 'Asia/Shanghai와 같은 IANA 시간대'],
  MARKET_REVIEW_REGION: ['시장을 정하지 않은 시황의 시장', KO_OPERATOR],
  MARKET_REVIEW_COLOR_SCHEME: ['상승과 하락의 색', KO_OPERATOR],
  ALPHASIFT_ENABLED: ['종목 선별', KO_OPERATOR],
  AGENT_CONTEXT_COMPRESSION_ENABLED: ['긴 대화 압축', '긴 대화를 모델을 위해 요약할지 여부'],
}

export function fieldWords({ key, title, description }: Named, language: CallerLanguage): [string, string] {
  const own = { zh: ZH_FIELDS, ko: KO_FIELDS, en: null }[language]
  const [named = title, said = description] = own?.[key] ?? []
  return [named, said]
}
