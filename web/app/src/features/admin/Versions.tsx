import type { Agent } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

type Config = Record<string, unknown>

/** The earlier configs of an agent. One of them can be put into the editor, and is used again when it is saved. */
export function Versions({ agent, onRestore }: { agent: Agent; onRestore: (config: Config, version: number) => void }) {
  const { client } = useStore()
  const { data, problem } = useQuery(`versions ${agent.id}`, () => client.agents.versions(agent.id), String(agent.version))
  if (!data) return <QueryStatus problem={problem} />
  return (
    <ol aria-label={t('Versions')} className="divide-y divide-line text-small">
      {data.versions.map(({ version, config, changedBy, createdAt }, n) => {
        const before = data.versions[n + 1]?.config
        return (
          <li key={version} className="flex items-center gap-3 py-2">
            <span className="min-w-0 flex-1">
              <span className="block font-medium">{version === agent.version ? t('Version {version} (current)', { version }) : t('Version {version}', { version })}</span>
              <span className="block text-ink-soft">{fullTime(createdAt)}{changedBy && <>{dot()}<bdi>{changedBy.name}</bdi></>}{before && `${dot()}${changedText(changedKeys(before, config))}`}</span>
            </span>
            {version !== agent.version && <Button onClick={() => onRestore(config, version)}>{t('Restore')}</Button>}
          </li>
        )
      })}
    </ol>
  )
}

const changedText = (keys: readonly string[]): string => (keys.length > 0 ? t('changed {settings}', { settings: keys.join(', ') }) : t('changed nothing'))

const changedKeys = (before: Config, after: Config): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
