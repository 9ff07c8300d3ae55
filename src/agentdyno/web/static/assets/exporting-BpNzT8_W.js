import{xt as e}from"./index-fY3z4BYd.js";var t=e(),n=`"use strict";
const waiting = new Map([...document.querySelectorAll("script.export-later")].map((later) => [later.previousElementSibling, later]));
const show = (part) => {
  const later = waiting.get(part);
  if (!later) return;
  waiting.delete(part);
  part.innerHTML = later.textContent.replaceAll("%3C", "<").replaceAll("%25", "%");
  later.remove();
};
const next = () => {
  const [part] = waiting.keys();
  if (part) { show(part); plan(); }
};
const plan = () => setTimeout(next, 30);
const near = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => show(one.target)), { rootMargin: "1000px" });
for (const part of waiting.keys()) near.observe(part);
addEventListener("beforeprint", () => [...waiting.keys()].forEach(show));
addEventListener("load", plan);
`,r=`sha256-3rRMBxtwZFKW7gKA71J1BdVE4svOHu/+yH7IdSPyQLs=`;function i(e){return e.replaceAll(`%`,`%25`).replaceAll(`<`,`%3C`)}function a(e){let t=[...e.children];if(t.length<=200)return;let n=[];for(let r=0;r<t.length;r+=100){let a=e.cloneNode(!1);if(a.classList.add(`export-part`),a.start=r+1,a.append(...t.slice(r,r+100)),n.push(a),r===0)continue;let o=document.createElement(`script`);o.type=`text/plain`,o.className=`export-later`,o.textContent=i(a.innerHTML),a.replaceChildren(),n.push(o)}e.replaceWith(...n)}var o=!1,s=new Set;function c(e){o=e;for(let e of s)e()}function l(e){return s.add(e),()=>s.delete(e)}function u(){return(0,t.useSyncExternalStore)(l,()=>o)}function d(){return[...document.styleSheets].flatMap(e=>[...e.cssRules].map(e=>e.cssText)).join(`
`)}var f=`button.sort, button[data-open]`,p=`button, input, .fields, .tabs, .live-only, .table-tools, script, .command, th.more, td.more`;function m(e){for(let t of e.querySelectorAll(f)){let e=document.createElement(`span`);e.append(...t.childNodes),t.replaceWith(e)}for(let t of e.querySelectorAll(p))t.remove();for(let t of e.querySelectorAll(`table.compact`))t.classList.remove(`compact`)}function h(e){let t=[...e.querySelectorAll(`canvas`)].map(e=>e.toDataURL(`image/png`)),n=e.cloneNode(!0);n.querySelectorAll(`canvas`).forEach((e,n)=>{let r=document.createElement(`img`);r.src=t[n]??``,r.alt=e.closest(`[role=img]`)?.getAttribute(`aria-label`)??`chart`,r.className=`export-picture`,e.replaceWith(r)});for(let e of n.querySelectorAll(`a`))e.href=new URL(e.getAttribute(`href`)??``,window.location.href).href;return m(n),n.querySelectorAll(`ol.steps`).forEach(a),n}var g=`.export-picture { max-width: 100%; }
.steps > li { content-visibility: auto; contain-intrinsic-size: auto 28px; }
.export-part { content-visibility: auto; contain-intrinsic-size: auto 2800px; margin-block: 0; }`;function _(e){let t=document.implementation.createHTMLDocument(document.title),i=t.createElement(`meta`);i.httpEquiv=`Content-Security-Policy`,i.content=`default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '${r}'`;let a=t.createElement(`meta`);a.setAttribute(`charset`,`utf-8`);let o=t.createElement(`meta`);o.name=`viewport`,o.content=`width=device-width, initial-scale=1`,t.head.prepend(a,i,o),t.documentElement.lang=`en`,t.documentElement.dataset.theme=document.documentElement.dataset.theme??``;let s=t.createElement(`p`);s.className=`muted`,s.textContent=`Saved from ${window.location.href} on ${new Date().toISOString().slice(0,16).replace(`T`,` `)} UTC.`;let c=t.importNode(h(e),!0);c.append(s),t.body.append(c);let l=`${d()}\n${g}`.replaceAll(`</`,`<\\/`),u=c.querySelector(`.export-later`)===null?``:`<script>${n}<\/script>`;return`<!doctype html>\n${t.documentElement.outerHTML.replace(`</head>`,()=>`<style>${l}</style></head>`).replace(/<\/body>(?![\s\S]*<\/body>)/,()=>`${u}</body>`)}\n`}var v=()=>new Promise(e=>requestAnimationFrame(()=>requestAnimationFrame(()=>e())));async function y(e){let t=document.getElementById(`main`);if(t){c(!0);try{await v();let n=URL.createObjectURL(new Blob([_(t)],{type:`text/html;charset=utf-8`})),r=document.createElement(`a`);r.href=n,r.download=`${e.replace(/[^\w.@-]+/g,`-`).slice(0,80)||`page`}.html`,r.click(),setTimeout(()=>URL.revokeObjectURL(n),1e4)}finally{c(!1)}}}export{u as n,y as t};