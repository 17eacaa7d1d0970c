import type { AgentStatus } from './agentStatus.ts'

/** The state as a mark: full and breathing at work, a ring while waiting, nothing while asleep. */
export function StatusDot({ state }: { state: AgentStatus['state'] }) {
  if (state === 'asleep') return null
  const look = state === 'thinking' ? 'animate-breathe bg-agent' : 'border-2 border-agent'
  return <span aria-hidden className={`inline-block size-2 shrink-0 rounded-full ${look}`} />
}
