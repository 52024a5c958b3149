// The SDK's chat dialect, used to build the request from a prompt. Loaded on first use.
export { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible'
