import type { WaitingRun } from '@majlis/client'
import { useMajlis } from '@majlis/client/react'

export type AgentStatus =
  | { state: 'thinking'; since: number; runId: string }
  | { state: 'waiting'; for: WaitingRun['for']; since: number; runId: string }
  | { state: 'idle' }

/** The activity of an agent in a space. */
export function useAgentStatus(agentId: string, spaceId: string): AgentStatus {
  const working = useMajlis((state) => find(state.agents.working, agentId, spaceId))
  const waiting = useMajlis((state) => find(state.agents.waiting, agentId, spaceId))
  if (working) return { state: 'thinking', since: working.since, runId: working.runId }
  if (waiting) return { state: 'waiting', for: waiting.for, since: waiting.since, runId: waiting.runId }
  return { state: 'idle' }
}

function find<T extends { agentId: string; spaceId: string }>(all: Readonly<Record<string, T>>, agentId: string, spaceId: string) {
  return Object.values(all).find((run) => run.agentId === agentId && run.spaceId === spaceId)
}
