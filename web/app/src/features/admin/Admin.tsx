import { useMe } from '@majlis/client/react'

import { go } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Back } from '../../ui/icons.tsx'
import { Link } from '../../ui/Link.tsx'
import { AgentEditor } from './AgentEditor.tsx'
import { Agents } from './Agents.tsx'
import { People } from './People.tsx'
import { PersonView } from './PersonView.tsx'
import { Spaces } from './Spaces.tsx'

const SECTIONS = [['people', 'People and services'], ['agents', 'Agents'], ['spaces', 'Spaces']] as const

export default function Admin({ section, id }: { section: string; id: string | null }) {
  const me = useMe()!
  const here = SECTIONS.some(([key]) => key === section) ? section : 'people'
  return (
    <section aria-labelledby="admin" className="flex min-h-0 flex-1 flex-col">
      <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-2 md:pl-6">
        <IconButton label="All spaces" className="md:hidden" onClick={() => go('/')}><Back /></IconButton>
        <h2 id="admin" className="hidden md:block md:text-large">Administration</h2>
        <nav aria-label="Administration" className="flex gap-1 md:ml-4">
          {SECTIONS.map(([key, name]) => (
            <Link key={key} href={`/admin/${key}`} aria-current={here === key ? 'page' : undefined} className="rounded-md px-3 py-1.5 text-small text-ink-soft hover:bg-hover aria-[current]:bg-hover aria-[current]:font-semibold aria-[current]:text-ink">
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-column p-4 md:p-6">
          {me.role === 'member' ? <p className="text-ink-soft">Only owners and administrators can open this page.</p>
            : here === 'agents' ? id ? <AgentEditor key={id} id={id} /> : <Agents />
            : here === 'spaces' ? <Spaces />
            : id ? <PersonView key={id} id={id} /> : <People />}
        </div>
      </div>
    </section>
  )
}
