// The Chinese wording of the pages of a conversation, beside what `zh.ts` has.

export const ZH_CONVERSATION = {
  'As they were at event {n}.': '事件 {n} 时的文件。',
  'Download as ZIP': '下载 ZIP',
  Event: '事件',
  'Event {n} of {count}': '事件 {n} / {count}',
  'Files as they are now': '显示当前文件',
  'Files as they were here': '显示此时的文件',
  'Fork here': '在此处分叉',
  History: '历史',
  'Nothing found.': '未找到。',
  Remove: '移除',
  'Search in this conversation': '在此会话中搜索',
  'Show later events': '显示之后的事件',
  'context {share} %': '上下文 {share} %',
  '{count} tokens': '{count} 个 token',
} as const
