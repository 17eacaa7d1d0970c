/** What an agent does in a space at this moment, as people put it. */
import type { WaitingRun, Working } from '@majlis/client'
import { useMajlis } from '@majlis/client/react'

export type AgentStatus =
  | { state: 'thinking'; since: number; runId: string }
  | { state: 'waiting'; for: WaitingRun['for']; since: number; runId: string }
  | { state: 'asleep' }

export function useAgentStatus(agentId: string, spaceId: string): AgentStatus {
  const working = useMajlis((state) => find(state.agents.working, agentId, spaceId))
  const waiting = useMajlis((state) => find(state.agents.waiting, agentId, spaceId))
  return doing(working, waiting)
}

export function doing(working: Working | undefined, waiting: WaitingRun | undefined): AgentStatus {
  if (working) return { state: 'thinking', since: working.since, runId: working.runId }
  if (waiting) return { state: 'waiting', for: waiting.for, since: waiting.since, runId: waiting.runId }
  return { state: 'asleep' }
}

function find<T extends { agentId: string; spaceId: string }>(all: Readonly<Record<string, T>>, agentId: string, spaceId: string) {
  return Object.values(all).find((run) => run.agentId === agentId && run.spaceId === spaceId)
}
