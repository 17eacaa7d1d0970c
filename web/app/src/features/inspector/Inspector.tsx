import { useSpace } from '@majlis/client/react'
import { useEffect, useRef, type ReactNode } from 'react'

import { inspect, type Inspect } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Close } from '../../ui/icons.tsx'
import { AgentView } from './AgentView.tsx'
import { Members } from './Members.tsx'
import { RunView } from './RunView.tsx'
import { Runs } from './Runs.tsx'
import { SpaceSettings } from './SpaceSettings.tsx'

const TABS = [['runs', 'Runs'], ['members', 'Members'], ['settings', 'Settings']] as const

/** The panel on the right. On a phone it covers the page. */
export default function Inspector({ spaceId, what }: { spaceId: string; what: Inspect }) {
  const space = useSpace(spaceId)
  const panel = useFocus()
  if (!space) return null
  return (
    <aside
      aria-label="Inspector"
      ref={panel}
      tabIndex={-1}
      className="fixed inset-0 z-20 flex flex-col border-l border-line bg-paper outline-none md:left-auto md:w-[26rem] md:shadow-high lg:static lg:shrink-0 lg:shadow-none"
      onKeyDown={(event) => event.key === 'Escape' && inspect(null)}>
      <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line pr-2 pl-4">
        <nav aria-label="Inspector" className="flex min-w-0 flex-1 gap-1">
          {TABS.map(([kind, name]) => (
            <Tab key={kind} current={what.kind === kind || (kind === 'runs' && what.kind === 'run') || (kind === 'members' && what.kind === 'agent')} onClick={() => inspect({ kind })}>
              {name}
            </Tab>
          ))}
        </nav>
        <IconButton label="Close inspector" onClick={() => inspect(null)}><Close /></IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        {what.kind === 'members' && <Members space={space} />}
        {what.kind === 'runs' && <Runs space={space} />}
        {what.kind === 'run' && <RunView key={what.id} runId={what.id} />}
        {what.kind === 'agent' && <AgentView key={what.id} agentId={what.id} />}
        {what.kind === 'settings' && <SpaceSettings space={space} />}
      </div>
    </aside>
  )
}

/** Moves the focus into the panel, and back when the panel closes. */
function useFocus() {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    panel.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return panel
}

function Tab({ current, children, onClick }: { current: boolean; children: ReactNode; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-current={current ? 'page' : undefined}
      className="rounded-md px-3 py-1.5 text-small text-ink-soft hover:bg-hover hover:text-ink aria-[current]:bg-hover aria-[current]:font-semibold aria-[current]:text-ink"
      onClick={onClick}
    >
      {children}
    </button>
  )
}
