import type { PromptBudget } from '@majlis/client'

import { msg } from '../language/words.ts'

/** Where the size of a request comes from. */
export const SIZE_SOURCE: Record<NonNullable<PromptBudget['source']>, string> = {
  config: msg('set for the agent'),
  server: msg('reported by the model’s server'),
  known: msg('a known model'),
  default: msg('the default'),
  learned: msg('learned when a longer request was refused'),
}
