import type { Triggers } from '@majlis/client'

import { msg } from '../../language/words.ts'

/** Answers to "Which agents respond". */
export const TRIGGERS: Record<Triggers, string> = {
  everyone: msg('All agents'),
  elected: msg('The agent you last talked with; all agents if it doesn’t reply'),
  mentioned: msg('Only agents you @mention'),
  orchestrated: msg('One agent, the orchestrator, decides who responds'),
}
