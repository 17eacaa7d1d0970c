import { useMe, useStore } from '@majlis/client/react'

import { msg, rich, t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'
import { Back } from '../../ui/icons.tsx'
import { Link } from '../../ui/Link.tsx'
import { NotFound } from '../../ui/NotFound.tsx'
import { ago, fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { AgentEditor } from './AgentEditor.tsx'
import { Agents } from './Agents.tsx'
import { Audit } from './Audit.tsx'
import { Models } from './Models.tsx'
import { People } from './People.tsx'
import { PersonView } from './PersonView.tsx'
import { Secrets } from './Secrets.tsx'
import { Spaces } from './Spaces.tsx'
import { Usage } from './Usage.tsx'
import { Webhooks } from './Webhooks.tsx'

const SECTIONS = [['people', msg('People')], ['agents', msg('Agents')], ['models', msg('Models')], ['spaces', msg('Spaces')], ['secrets', msg('Secrets')], ['usage', msg('Usage')], ['webhooks', msg('Webhooks')], ['audit', msg('Audit log')]] as const

export default function Admin({ section, id }: { section: string; id: string | null }) {
  const me = useMe()!
  const store = useStore()
  const administers = me.role !== 'member'
  const { data: system } = useQuery('system', async () => (administers ? store.client.system() : null))
  const known = SECTIONS.some(([key]) => key === section)
  return (
    <section aria-labelledby="admin" className="flex min-h-0 flex-1 flex-col">
      <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-2 md:ps-6">
        <IconButton label={t('All spaces')} className="md:hidden" onClick={() => go('/')}><Back /></IconButton>
        <h2 id="admin" className="text-large max-md:unseen">{t('Administration')}</h2>
        <nav aria-label={t('Administration')} className="flex min-w-0 gap-1 overflow-x-auto md:ms-4">
          {SECTIONS.map(([key, name]) => (
            <Link key={key} ref={section === key ? showTab : undefined} href={`/admin/${key}`} aria-current={section === key ? 'page' : undefined} className="shrink-0 rounded-md px-2 py-1.5 lg:px-3 text-small text-ink-soft hover:bg-hover aria-[current]:bg-hover aria-[current]:font-semibold aria-[current]:text-ink">
              {t(name)}
            </Link>
          ))}
        </nav>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-column p-4 md:p-6">
          {me.role === 'member' ? <p className="text-ink-soft">{t('Only owners and administrators can open this page.')}</p>
            : !known ? <NotFound />
            : section === 'agents' ? id ? <AgentEditor key={id} id={id} /> : <Agents />
            : section === 'spaces' ? <Spaces />
            : section === 'models' ? <Models />
            : section === 'secrets' ? <Secrets />
            : section === 'usage' ? <Usage />
            : section === 'webhooks' ? <Webhooks />
            : section === 'audit' ? <Audit />
            : id ? <PersonView key={id} id={id} /> : <People />}
          {system && (
            <p className="mt-8 text-tiny text-ink-soft">
              {t('Majlis {version} on {database}', { version: system.version, database: system.database === 'sqlite' ? 'SQLite' : 'PostgreSQL' })}{dot()}{system.lastBackupAt ? rich('Last backup {time}', { time: <time dateTime={system.lastBackupAt} title={fullTime(system.lastBackupAt)}>{ago(system.lastBackupAt)}</time> }) : <span className="text-decide">{t('No backup yet. Run majlis backup where Majlis runs.')}</span>}
            </p>
          )}
        </div>
      </div>
    </section>
  )
}

/** On narrow screens the tabs scroll. */
const showTab = (tab: HTMLElement | null): void => tab?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
