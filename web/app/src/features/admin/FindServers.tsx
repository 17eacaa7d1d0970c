import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { plural, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'

interface Server { provider: string; title: string; baseUrl: string; models: string[] }

/** Finds Ollama, llama.cpp, LM Studio and vLLM at their usual ports on the server's machine. */
export function FindServers({ onChoose }: { onChoose: (server: Server) => void }) {
  const { client } = useStore()
  const [found, setFound] = useState<readonly Server[] | null>(null)
  const [problem, setProblem] = useState('')
  const find = () => void client.models.find().then((list) => { setFound(list); setProblem('') }, (error: Error) => setProblem(error.message))
  return (
    <div className="space-y-2 text-small">
      <Button onClick={find}>{t('Find servers on this machine')}</Button>
      <p role="alert" className="text-bad empty:hidden">{problem}</p>
      <p role="status" className="text-ink-soft empty:hidden">{found?.length === 0 && t('Found no Ollama, llama.cpp, LM Studio or vLLM at its usual port. If yours runs elsewhere, enter its address below.')}</p>
      {found?.map((server) => (
        <div key={server.provider} className="flex items-center gap-3">
          <span className="min-w-0 flex-1"><b className="font-semibold">{server.title}</b> <span className="text-ink-soft">{server.baseUrl}{dot()}{plural(server.models.length, '{n} model', '{n} models')}</span></span>
          <Button aria-label={t('Choose {title}', { title: server.title })} onClick={() => onChoose(server)}>{t('Choose')}</Button>
        </div>
      ))}
    </div>
  )
}
