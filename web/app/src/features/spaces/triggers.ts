import type { Triggers } from '@majlis/client'

/** Answers to "Which agents respond". */
export const TRIGGERS: Record<Triggers, string> = {
  everyone: 'All agents',
  elected: 'The agent you last talked with; all agents if it doesn’t reply',
  mentioned: 'Only agents you @mention',
  orchestrated: 'One agent, the orchestrator, decides who responds',
}
