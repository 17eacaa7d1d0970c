import { useSpace } from '@majlis/client/react'
import { useEffect, useRef, type ReactNode } from 'react'

import { msg, t } from '../../language/words.ts'
import { inspect, type Inspect } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Close } from '../../ui/icons.tsx'
import { Gallery } from '../files/Gallery.tsx'
import { Thread } from '../threads/Thread.tsx'
import { AgentView } from './AgentView.tsx'
import { Members } from './Members.tsx'
import { Pins } from './Pins.tsx'
import { RunView } from './RunView.tsx'
import { Runs } from './Runs.tsx'
import { SpaceSettings } from './SpaceSettings.tsx'
import { Summaries } from './Summaries.tsx'

const TABS = [['runs', msg('Runs')], ['members', msg('Members')], ['files', msg('Files')], ['pins', msg('Pins')], ['settings', msg('Settings')]] as const

/** The panel on the right. On a phone it covers the page; between a phone and a wide screen it takes the place of the sidebar. */
export default function Inspector({ spaceId, what, onClose }: { spaceId: string; what: Inspect; onClose: () => void }) {
  const space = useSpace(spaceId)
  const panel = useFocus()
  if (!space) return null
  return (
    <aside
      aria-label={t('Inspector')}
      ref={panel}
      tabIndex={-1}
      className="fixed inset-0 z-20 flex flex-col border-s border-line bg-paper outline-none md:static md:w-88 md:shrink-0 xl:w-104"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line pe-2 ps-4">
        <nav aria-label={t('Inspector')} className="flex min-w-0 flex-1 gap-0.5">
          {TABS.map(([kind, name]) => (
            <Tab key={kind} current={what.kind === kind || (kind === 'runs' && what.kind === 'run') || (kind === 'members' && what.kind === 'agent')} onClick={() => inspect({ kind })}>
              {t(name)}
            </Tab>
          ))}
        </nav>
        <IconButton label={t('Close inspector')} onClick={onClose}><Close /></IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        {what.kind === 'members' && <Members space={space} />}
        {what.kind === 'pins' && <Pins space={space} />}
        {what.kind === 'runs' && <Runs space={space} />}
        {what.kind === 'run' && <RunView key={what.id} runId={what.id} />}
        {what.kind === 'agent' && <AgentView key={what.id} agentId={what.id} />}
        {what.kind === 'thread' && <Thread key={what.id} space={space} messageId={what.id} />}
        {what.kind === 'files' && <Gallery key={space.facts.id} space={space} />}
        {what.kind === 'settings' && <><SpaceSettings space={space} /><Summaries space={space} /></>}
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
      className="rounded-md px-1.5 py-1.5 text-small text-ink-soft hover:bg-hover xl:px-2.5 hover:text-ink aria-[current]:bg-hover aria-[current]:font-semibold aria-[current]:text-ink"
      onClick={onClick}
    >
      {children}
    </button>
  )
}
