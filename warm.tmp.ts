import { openSync } from 'node:fs';
import { runCli } from './src/compose/app.ts';
import { acorCli } from './src/operations/acor-cli.ts';
const out = openSync('/dev/null','w');
const ts:number[]=[]; const cpu:number[]=[];
const n=Number(process.env.N ?? 30);
for(let i=0;i<n;i++){ const t=performance.now(); const c=process.cpuUsage();
 await runCli(acorCli(), process.argv.slice(2), {stdoutFd:out,stderrFd:2,stdoutIsTTY:false,stdinIsTTY:false,columns:undefined,env:process.env,cwd:'/tmp/host/p',signal:new AbortController().signal,readStdin:async()=>''});
 ts.push(performance.now()-t); const d=process.cpuUsage(c); cpu.push((d.user+d.system)/1000);
 await new Promise(r=>setTimeout(r,20));}
console.log('wall',ts.map(x=>x.toFixed(1)).join(' ')); console.log('cpu',cpu.map(x=>x.toFixed(1)).join(' '));
