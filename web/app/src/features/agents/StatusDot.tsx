import type { AgentStatus } from './agentStatus.ts'

/** Solid while thinking, a ring while waiting, nothing while idle. */
export function StatusDot({ state }: { state: AgentStatus['state'] }) {
  if (state === 'idle') return null
  const look = state === 'thinking' ? 'animate-breathe bg-agent' : 'border-2 border-agent'
  return <span aria-hidden className={`inline-block size-2 shrink-0 rounded-full ${look}`} />
}
